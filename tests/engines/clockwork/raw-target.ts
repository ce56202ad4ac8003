import net, { type AddressInfo, type Socket } from 'node:net'

/** What a target does with one request that it has read to its end. */
export type Behaviour = (socket: Socket) => void

/** A target on loopback that keeps what arrived byte for byte, and answers as bytes. */
export async function startRawTarget(behave: Behaviour) {
  const requests: string[] = []
  const open = new Set<Socket>()
  const server = net.createServer((socket) => {
    let received = ''
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!isWhole(received)) return
      requests.push(received)
      received = ''
      behave(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(received)?.[1] ?? '0'
  return end >= 0 && received.length >= end + 4 + Number(length)
}

/** Answers with these bytes as the body. */
export const answering =
  (body: string | Uint8Array, head = 'HTTP/1.1 200 OK'): Behaviour =>
  (socket) => {
    const bytes = Buffer.from(body)
    socket.write(`${head}\r\nContent-Length: ${bytes.length}\r\n\r\n`)
    socket.write(bytes)
  }

export const hangingUp: Behaviour = (socket) => socket.destroy()

/** The URL of a port on which nobody listens. */
export async function closedPort(): Promise<string> {
  const target = await startRawTarget(hangingUp)
  await target[Symbol.asyncDispose]()
  return target.url
}

export const linesOf = (request = ''): string[] =>
  (request.split('\r\n\r\n')[0] ?? '').split('\r\n')

/** Values of one header, however its name is spelled. */
export const valuesOf = (request: string | undefined, name: string): string[] =>
  linesOf(request)
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    .map((line) => line.slice(name.length + 1).trim())
