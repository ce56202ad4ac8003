/**
 * Who the events of `starvation` go to. One port answers each delivery at once and notes when its
 * first byte came; one accepts connections and never sends a byte. Asked over HTTP: where they
 * are, and which deliveries have come since the last time. Bare sockets: a delivery has a
 * connection of its own.
 */
import type { Arrivals, Receivers } from '../starvation.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
const WEBHOOK_ID = /\r\nwebhook-id: ([^\r]+)\r\n/i
const LOOPBACK = { hostname: '127.0.0.1', port: 0 }

let arrivals: Arrivals = {}

const healthy = Bun.listen({
  ...LOOPBACK,
  socket: {
    data(socket, chunk) {
      const now = performance.timeOrigin + performance.now()
      const id = WEBHOOK_ID.exec(chunk.toString('latin1'))?.[1]
      if (id === undefined) return
      arrivals[id] ??= now
      socket.end(ANSWER)
    },
  },
})
const silent = Bun.listen({ ...LOOPBACK, socket: { data() {} } })

const receivers: Receivers = {
  healthy: `http://127.0.0.1:${healthy.port}/hook`,
  silent: `http://127.0.0.1:${silent.port}/hook`,
}

function take(): Arrivals {
  const taken = arrivals
  arrivals = {}
  return taken
}

const server = Bun.serve({
  ...LOOPBACK,
  routes: {
    '/receivers': () => Response.json(receivers),
    '/arrivals': () => Response.json(take()),
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
