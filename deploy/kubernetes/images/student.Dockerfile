# A student's server: docker build -f deploy/kubernetes/images/student.Dockerfile -t …/distlab-student .
# It holds what students install, and neither solutions nor hidden cases.
FROM python:3.11-slim-bookworm

# the same as the chart's Hub
ARG JUPYTERHUB="jupyterhub==6.1.1"

RUN useradd --create-home --uid 1000 jovyan
COPY pyproject.toml constraints.txt README.md LICENSE /opt/distlab/
COPY src /opt/distlab/src
WORKDIR /opt/distlab
RUN pip install --no-cache-dir -c constraints.txt torch \
  && pip install --no-cache-dir -c constraints.txt '.[grader]' "$JUPYTERHUB"
COPY deploy/hub/jupyter /etc/distlab/jupyter
ENV JUPYTER_CONFIG_PATH=/etc/distlab/jupyter/student

USER 1000
WORKDIR /home/jovyan
CMD ["jupyterhub-singleuser"]
