# holdfastctl by itself: docker build -t holdfastctl . && docker run --rm holdfastctl check www.example.com
# Written without Docker at hand: nobody has built it yet.
FROM swift:6.3-noble AS build
WORKDIR /holdfast
COPY . .
RUN scripts/install --destdir /installed --prefix /usr/local

FROM ubuntu:noble
# libcurl and libxml2 are what Foundation needs; the certificates are what chains are validated against.
RUN apt-get update -q \
    && apt-get install -yq --no-install-recommends ca-certificates libcurl4t64 libxml2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home holdfast
COPY --from=build /installed/usr/local /usr/local
USER holdfast
WORKDIR /home/holdfast
ENTRYPOINT ["holdfastctl"]
