import { connect } from 'node:net'

/** Bytes as they are, on a connection of their own, and all that comes back until it ends. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setTimeout(5000, () => {
      socket.destroy()
      reject(new Error(`no end of the answer to ${JSON.stringify(bytes.slice(0, 200))}`))
    })
    socket.on('data', (data) => {
      received += data.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

/** The statuses in what came back, in order; none where the connection only ended. */
export const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** The body of the last answer. */
export const bodyIn = (received: string): string => received.split('\r\n\r\n').at(-1) ?? ''
