# The exchange's service: docker build -f deploy/kubernetes/images/exchange.Dockerfile -t …/distlab-exchange .
# It runs no student code and needs neither torch nor nbgrader.
FROM python:3.11-slim-bookworm

# as in the students' image
ARG JUPYTERHUB="jupyterhub==5.4.4"

RUN useradd --create-home --uid 1000 exchange
COPY pyproject.toml constraints.txt README.md LICENSE /opt/distlab/
COPY src /opt/distlab/src
WORKDIR /opt/distlab
RUN sed -i '/^jupyterhub==/d' constraints.txt \
  && pip install --no-cache-dir -c constraints.txt "$JUPYTERHUB" tornado \
  && pip install --no-cache-dir --no-deps .

USER 1000
WORKDIR /srv/exchange
ENTRYPOINT ["python", "-m", "distlab.exchange.service"]
