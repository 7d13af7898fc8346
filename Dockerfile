# An image with the program, HiGHS and CBC: docker build -t gleaner .
# The version of Rust is the newest stable one, at least the rust-version in Cargo.toml.
FROM rust:1-bookworm AS build
COPY . /source
WORKDIR /source
RUN make install PREFIX=/usr/local DESTDIR=/installed FEATURES="--features harvest"

FROM debian:bookworm-slim
# Debian's CBC, which the program loads.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends coinor-libcbc3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/ /
COPY LICENSE-MIT LICENSE-APACHE /usr/local/share/doc/gleaner/
LABEL org.opencontainers.image.title="Gleaner" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0" \
    org.opencontainers.image.source="https://github.com/OWNER/gleaner"
RUN useradd --create-home --uid 1000 gleaner
USER 1000
WORKDIR /data
ENTRYPOINT ["gleaner"]
