import { setTimeout as pause } from 'node:timers/promises'
import { brokenReply, type Faults } from './faults.ts'
import type { Call, Fixture } from './fixture.ts'
import { methodsOf } from './methods.ts'
import { readParams } from './params.ts'
import { cut, Refusal, refused } from './wire.ts'

const PATH = /^\/bot([^/]+)\/(\w+)$/
const TOKEN = /^[1-9]\d*:[\w-]+$/

/** Serves the fixture to its bots, on a free port of loopback. */
export function serve(fixture: Fixture, faults: Faults) {
  const methods = methodsOf(fixture)
  const names = new Map(Object.keys(methods).map((name) => [name.toLowerCase(), name]))

  async function respond(request: Request): Promise<Response> {
    const [, token, name] = PATH.exec(decodeURIComponent(new URL(request.url).pathname)) ?? []
    if (token === undefined || name === undefined) return refused(new Refusal(404, 'Not Found'))
    const method = names.get(name.toLowerCase()) ?? name
    const call: Call = { method, token, params: {}, at: Date.now(), status: undefined }
    const gone = AbortSignal.any([request.signal, fixture.closing])
    try {
      call.params = await readParams(request)
      record(call)
      return await reply(call, gone)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return finished(call, gone, refused(error))
    }
  }

  function record(call: Call) {
    fixture.calls.push(call)
    fixture.bell.ring()
  }

  /** A caller that has gone got nothing. */
  function finished(call: Call, gone: AbortSignal, response: Response, isCut = false): Response {
    if (!gone.aborted) call.status = isCut ? 0 : response.status
    fixture.bell.ring()
    return response
  }

  /** With what goes wrong on purpose. */
  async function reply(call: Call, gone: AbortSignal): Promise<Response> {
    const fault = faults.take(call.method, botIdOf(call.token))
    const rightly = () => perform(call, gone)
    if (!fault) return finished(call, gone, await rightly())

    const early = fault.worksAnyway ? await rightly() : undefined
    await (fault.until ?? pause(fault.delayMs ?? 0, undefined, { signal: gone }).catch(() => {}))
    if (gone.aborted) return cut()
    const response = brokenReply(fault) ?? early ?? (await rightly())
    return finished(call, gone, response, fault.drop)
  }

  async function perform({ token, method, params }: Call, gone: AbortSignal): Promise<Response> {
    try {
      const run = methods[method]
      if (!TOKEN.test(token)) throw new Refusal(404, 'Not Found')
      const bot = fixture.bots.get(botIdOf(token))
      if (bot?.token !== token) throw new Refusal(401, 'Unauthorized')
      if (!run) throw new Refusal(404, 'Not Found: method not found')
      return Response.json({ ok: true, ...(await run(bot, params, gone)) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refused(error)
    }
  }

  return Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: respond })
}

const botIdOf = (token: string) => Number(token.split(':')[0])
