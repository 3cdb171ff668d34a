FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /opt/haversack && /opt/haversack/bin/pip install --no-cache-dir "/source[http,oauth,postgres]"

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 haversack && mkdir /data && chown haversack /data
COPY --from=build /opt/haversack /opt/haversack
USER 10001
ENV HAVERSACK_HOME=/data PATH=/opt/haversack/bin:$PATH
WORKDIR /data
VOLUME /data
EXPOSE 7420
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "-c", \
  "import urllib.request as u; u.urlopen('http://127.0.0.1:7420/healthz', timeout=4)"]
# Reached from outside the container, so --allowed-host NAME is needed as an argument.
ENTRYPOINT ["haversack", "serve", "--http", "0.0.0.0:7420", "--behind-tls"]
