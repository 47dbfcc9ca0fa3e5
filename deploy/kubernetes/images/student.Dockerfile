# A student's server: docker build -f deploy/kubernetes/images/student.Dockerfile -t …/distlab-student .
# It holds what students install, and neither solutions nor hidden cases.
FROM python:3.11-slim-bookworm

# The version of the chart's Hub (`appVersion` in its Chart.yaml), not that of constraints.txt: a server
# of another one may fail to log people in.
ARG JUPYTERHUB="jupyterhub==5.4.4"

RUN useradd --create-home --uid 1000 jovyan
COPY pyproject.toml constraints.txt README.md LICENSE /opt/distlab/
COPY src /opt/distlab/src
WORKDIR /opt/distlab
RUN sed -i '/^jupyterhub==/d' constraints.txt \
  && pip install --no-cache-dir -c constraints.txt torch \
  && pip install --no-cache-dir -c constraints.txt '.[grader]' "$JUPYTERHUB"
COPY deploy/hub/jupyter /etc/distlab/jupyter
ENV JUPYTER_CONFIG_PATH=/etc/distlab/jupyter/student
ENV JUPYTER_PATH=/etc/distlab/jupyter/data

USER 1000
WORKDIR /home/jovyan
CMD ["jupyterhub-singleuser"]
