import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Identity } from '../../platform/outbound/certificates.ts'
import type { Behaviour } from '../clockwork/raw-target.ts'

export const replying =
  (status: string, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (socket) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const length = Buffer.byteLength(body)
    socket.end(
      `HTTP/1.1 ${status}\r\n${lines.join('')}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`,
    )
  }

export const silent: Behaviour = () => {}

/** The connection ends with RST instead of an answer. */
export const resetting: Behaviour = (socket) => void socket.resetAndDestroy()

/** A head, the beginning of a body, and then RST. */
export const resettingAfterHead =
  (status: string): Behaviour =>
  (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 1000\r\n\r\nonly so mu`)
    setTimeout(() => socket.resetAndDestroy(), 20)
  }

/** A head, and then a body that comes byte by byte and does not end. */
export const drippingBody =
  (status: string): Behaviour =>
  (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 100000\r\n\r\n`)
    const timer = setInterval(() => socket.write('.'), 5)
    socket.on('close', () => clearInterval(timer))
  }

/** A body without an end, as fast as it is taken. */
export const pouring =
  (status: string): Behaviour =>
  (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const block = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(block));
    }
    socket.on('drain', pour)
    pour()
  }

/** Speaks TLS with the given certificate, and counts the requests that got through to it. */
export async function startTlsReceiver(identity: Identity) {
  const requests: string[] = []
  const server = https.createServer(identity, (request, response) => {
    requests.push(request.url ?? '')
    response.end('over tls')
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
