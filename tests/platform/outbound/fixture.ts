import { onTestFinished } from 'bun:test'
import type { ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { systemClock } from '../../../src/platform/clock.ts'
import { createOutbound, type OutboundOptions } from '../../../src/platform/outbound/client.ts'
import type { OutboundRequest, OutboundResult } from '../../../src/platform/outbound/index.ts'
import { until } from '../../support/binary.ts'
import type { Behavior } from './behaviors.ts'
import type { Identity } from './certificates.ts'

export { answer } from './behaviors.ts'

export const loopback = (options: Partial<OutboundOptions> = {}) =>
  createOutbound({
    clock: systemClock,
    allow: ['127.0.0.0/8'],
    timeoutMs: 3000,
    maxResponseBytes: 65_536,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  })

type Rest = Partial<OutboundRequest>

export const get = (url: string, rest: Rest = {}): OutboundRequest => ({
  url,
  method: 'GET',
  headers: {},
  body: null,
  ...rest,
})

export const post = (url: string, body: string, rest: Rest = {}) =>
  get(url, { method: 'POST', body, ...rest })

export function reply(result: OutboundResult) {
  if (!result.replied) throw new Error(`no reply: ${result.reason}: ${result.message}`)
  return { ...result, text: new TextDecoder().decode(result.body) }
}

export function failure(result: OutboundResult) {
  if (result.replied) throw new Error(`replied ${result.status}`)
  return result
}

/** A target that shows the bytes of its requests and answers as the test says. */
export async function startTarget(behave: Behavior) {
  const requests: string[] = []
  const open = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    let received = ''
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!isWhole(received)) return
      const request = received
      received = ''
      requests.push(request)
      behave(socket, request)
    })
  })
  await listen(server)
  onTestFinished(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const closed = () => until(() => open.size === 0)
  return { port, url: `http://127.0.0.1:${port}`, requests, closed }
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(received)?.[1] ?? '0'
  return end >= 0 && received.length >= end + 4 + Number(length)
}

export async function startTlsTarget(
  identity: Identity,
  behave = (response: ServerResponse) => void response.end('over tls'),
) {
  const seen = { requests: 0, names: [] as string[] }
  const server = https.createServer(identity, (_, response) => {
    seen.requests++
    behave(response)
  })
  server.on('secureConnection', (socket) => seen.names.push(String(socket.servername)))
  await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { ...(server.address() as AddressInfo), seen }
}

const listen = (server: net.Server) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
