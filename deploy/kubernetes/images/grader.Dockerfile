# The course's own server and grading on submit, upon the students' image:
# docker build -f deploy/kubernetes/images/grader.Dockerfile --build-arg STUDENT=…/distlab-student:0.1.0 .
# The course itself, with solutions and hidden cases, is no part of it: it lies on the pod's disk.
ARG STUDENT=registry.example.org/distlab-student:0.1.0
FROM ${STUDENT}

ENV JUPYTER_CONFIG_PATH=/etc/distlab/jupyter/course
WORKDIR /srv/course
CMD ["distlab", "grade", "--watch"]
