import type { TestApp, TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { bootPassepartout } from './fixture.ts'

type WireReply = { status?: number; body?: BodyInit } | undefined
type Reply = (method: string, request: Request) => WireReply | Promise<WireReply>

/** Stands before a Bot API server: gives the replies of a test, and passes on other calls. */
export function startProxy(target: () => string, reply: Reply) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const own = await reply(pathname.split('/').at(-1) ?? '', request)
      if (own) return new Response(own.body ?? '', { status: own.status ?? 200 })
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: await request.text(), signal: request.signal }
      const failed = () => new Response('', { status: 502 })
      return await fetch(target() + pathname, init).catch(failed)
    },
  })
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** A fixture whose bots meet a proxy before their server. */
export async function bootBehindProxy(reply: Reply, options: TestAppOptions = {}) {
  let target = ''
  const proxy = startProxy(() => target, reply)
  const flags = { 'passepartout-telegram-api-root': proxy.url }
  const fixture = await bootPassepartout({ ...options, flags })
  target = fixture.botApi.url
  async function stop() {
    await fixture.stop()
    await proxy[Symbol.asyncDispose]()
  }
  return { ...fixture, [Symbol.asyncDispose]: stop }
}

/**
 * Resolves when a wait of so many milliseconds has begun; turning the clock before would be too
 * soon. With a jitter of one half, the waits of pollers differ from all others.
 */
export function watchWaits({ clock }: TestApp) {
  const { after } = clock
  const begun: number[] = []
  clock.after = (ms, fn) => {
    begun.push(Math.round(ms))
    return after(ms, fn)
  }
  return async (ms: number, count = 1) => {
    const told = () => `a wait of ${ms} ms among ${begun.slice(-9)}`
    await until(() => begun.filter((one) => one === ms).length >= count, told, 4000)
    begun.length = 0
  }
}
