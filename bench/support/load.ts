import { cpuOfAll } from './cpu.ts'
import type { Sample } from './rounds.ts'
import type { Server } from './server.ts'

export interface Load {
  clients: number
  /** How long requests are sent; until `request` has no more when absent. */
  ms?: number
  /** The next request of any client, as text. */
  request: () => string | undefined
  /** Leaves the processor to the server while it waits, which several processes need. */
  sleeps?: boolean
}

/**
 * Clients that each keep one connection open and send their next request when the last has
 * been answered whole. Written on bare sockets: it costs a fraction of what `fetch` does, so
 * that the second core suffices for any server measured here.
 */
export async function load(
  { url, pid }: Server,
  { clients, ms = Number.POSITIVE_INFINITY, request, sleeps = false }: Load,
): Promise<Sample> {
  const { hostname, port } = new URL(url)
  const before = cpuOfAll(pid)
  const start = performance.now()
  let sent = 0
  const next = () => {
    const text = performance.now() - start < ms ? request() : undefined
    if (text !== undefined) sent++
    return text
  }
  const address = { hostname, port: Number(port) }
  const times: number[] = []
  const rest = sleeps ? () => {} : stayAwake()
  try {
    await Promise.all(Array.from({ length: clients }, () => converse(address, next, times)))
  } finally {
    rest()
  }
  const elapsed = performance.now() - start
  const cpu = cpuOfAll(pid) - before
  return {
    'req/s': (sent / elapsed) * 1000,
    'CPU µs/req': (cpu / sent) * 1000,
    'p99 ms': times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN,
  }
}

/**
 * Keeps this process from sleeping while it waits. To wake a sleeping client is work that the
 * kernel does in the server's name, the more the slower the server is.
 */
function stayAwake(): () => void {
  let isOver = false
  const turn = () => {
    if (!isOver) setImmediate(turn)
  }
  turn()
  return () => {
    isOver = true
  }
}

/** One client: resolves when there is no next request. Any answer but a 2xx is an error. */
function converse(
  address: { hostname: string; port: number },
  next: () => string | undefined,
  times: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = createReader()
    let sentAt = 0
    function proceed(socket: Bun.Socket) {
      const text = next()
      sentAt = performance.now()
      if (text !== undefined) return void socket.write(text)
      resolve()
      socket.end()
    }
    Bun.connect({
      ...address,
      socket: {
        open: proceed,
        data(socket, chunk) {
          const status = reader.take(chunk)
          if (status === undefined) return
          times.push(performance.now() - sentAt)
          if (status >= 200 && status < 300) return proceed(socket)
          reject(new Error(`answered ${status}: ${chunk}`))
          socket.end()
        },
        close: () => reject(new Error('the server closed the connection')),
        error: (_, error) => reject(error),
      },
    }).catch(reject)
  })
}

/** Counts the bytes of one answer after the other, each with a Content-Length. */
function createReader() {
  let head: Buffer = Buffer.alloc(0)
  let status = 0
  let missing = 0

  function readHead(chunk: Buffer): number | undefined {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return undefined
    status = numberAt(head, 9)
    missing = end + 4 + lengthIn(head) - head.length
    head = Buffer.alloc(0)
    return missing === 0 ? status : undefined
  }

  /** The status, once the answer is there whole. */
  function take(chunk: Buffer): number | undefined {
    if (missing === 0) return readHead(chunk)
    missing -= chunk.length
    return missing === 0 ? status : undefined
  }

  return { take }
}

/** Compares bytes: a regular expression on long headers would cost more than some servers do. */
function lengthIn(head: Buffer): number {
  const at = LENGTH_NAMES.map((name) => head.indexOf(name)).find((found) => found !== -1)
  if (at === undefined) throw new Error(`an answer without Content-Length: ${head}`)
  return numberAt(head, at + LENGTH_NAMES[0].length)
}

const LENGTH_NAMES = ['\r\nContent-Length: ', '\r\ncontent-length: '] as const

function numberAt(bytes: Buffer, at: number): number {
  let number = 0
  for (let address = at; isDigit(bytes[address]); address++)
    number = number * 10 + (bytes[address] as number) - ZERO
  return number
}

const ZERO = 0x30
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= ZERO + 9

/** An HTTP/1.1 request as text; a body makes it a POST of JSON. */
export function requestText(
  path: string,
  key?: string,
  body?: unknown,
  headers: string[] = [],
): string {
  const json = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(key ? [`Authorization: Bearer ${key}`] : []),
    ...headers,
    ...(json ? ['Content-Type: application/json', `Content-Length: ${json.length}`] : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${json}`
}

/** Sends the same few requests over and over, and goes on where it stopped the last time. */
export function repeater(server: Server, requests: string[], ms: number) {
  let sent = 0
  const request = () => requests[sent++ % requests.length]
  return (clients: number) => load(server, { clients, ms, request })
}
