# One image for every role, which is its argument: docker run wizard game-node
#
# Needs only stages of a builder, so that the classic one and BuildKit both take it.

FROM node:20-bookworm-slim AS client
WORKDIR /source/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run --silent build

FROM rust:1.95-slim-bookworm AS program
WORKDIR /source
COPY . ./
COPY --from=client /source/web/dist/ web/dist/
COPY --from=client /source/web/dist-operations/ web/dist-operations/
RUN cargo build --release --locked --bin wizard

FROM debian:bookworm-slim
# Whom to believe: rediss://, and traces sent to https://.
COPY --from=program /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=program /source/target/release/wizard /usr/local/bin/wizard

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Wizard" \
      org.opencontainers.image.description="The card game Wizard: gateway, game node, AI node, or all in one" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"

# The same port for every role, which only the container's networks reach; `wizard health` asks it.
ENV OPS_ADDR=0.0.0.0:9090
# Players, links of a game node, operations.
EXPOSE 8080 7000 9090
# A number, so that Kubernetes can tell that it is not root. Nothing is ever written to the file system.
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=2s --timeout=6s --retries=30 CMD ["wizard", "health"]
ENTRYPOINT ["wizard"]
# Without a role: everything in one process, for a first look.
CMD ["--listen-addr", "0.0.0.0:8080"]
