import type net from 'node:net'

export type Behavior = (socket: net.Socket, request: string) => unknown

export const answer = (text: string, head = ''): Behavior => {
  const length = Buffer.byteLength(text)
  return writes(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n${head}\r\n${text}`)
}

export const writes =
  (text: string): Behavior =>
  (socket) =>
    socket.write(text)

export const ends =
  (text: string): Behavior =>
  (socket) =>
    socket.end(text)

export const resets =
  (text: string): Behavior =>
  (socket) =>
    text === '' ? socket.resetAndDestroy() : socket.write(text, () => socket.resetAndDestroy())

export const drips =
  (start: string, drop: string): Behavior =>
  (socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(drop), 5)
    socket.on('close', () => clearInterval(timer))
  }

/** Sends `start`, then `block` again and again as fast as possible. */
export function pours(start: string, block: string) {
  let sent = 0
  const behave: Behavior = (socket) => {
    socket.write(start)
    const pour = () => {
      while (!socket.destroyed && socket.write(block)) sent += block.length
    }
    socket.on('drain', pour)
    pour()
  }
  return { behave, sent: () => sent }
}
