import { STATUS_CODES } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { until as untilHolds } from '../binary.ts'
import { type Bot, newBot, Refusal, type User } from './bot.ts'
import { methodsOf, type Params, type TapRecord } from './methods.ts'
import { type BotMessage, newPerson, type Person } from './people.ts'

export type { Bot as TestBot } from './bot.ts'
export type { BotMessage, Person }

type Named = { id: number }

interface Call {
  method: string
  token: string
  params: Params
  /** Undefined as long as it is under way, 0 where the connection was cut. */
  status: number | undefined
}

/** What goes wrong with calls on purpose: with every method and bot, until it is ended, unless told. */
export interface FaultFields {
  method?: string
  bot?: Named
  times?: number
  status?: number
  description?: string
  /** In seconds; 429 unless another status is given. */
  retryAfter?: number
  /** By themselves, these make a reply slow and nothing else. */
  delayMs?: number
  until?: Promise<unknown>
  /** What every call is answered with. */
  result?: unknown
  /** Cuts the connection. */
  drop?: true
  /** A page in place of JSON. */
  garbage?: true
  /** What was asked is done all the same: the reply alone goes wrong. */
  worksAnyway?: true
}

const PATH = /^\/bot([^/]+)\/(\w+)$/

/** Telegram's Bot API on loopback, with people who speak to the bots. */
export function startBotApi() {
  const closing = new AbortController()
  const bots = new Map<number, Bot>()
  const people = new Map<number, User>()
  const taps = new Map<string, TapRecord>()
  const calls: Call[] = []
  const faults = new Set<{ fields: FaultFields; hits: number }>()
  const methods = methodsOf({ people, taps })
  let lastId = 0

  const botOf = ({ id }: Named): Bot => {
    const bot = bots.get(id)
    if (!bot) throw new Error(`there is no bot ${id}`)
    return bot
  }
  const answersTo = ({ id }: { id: string }) => taps.get(id)?.answers ?? []

  async function respond(request: Request): Promise<Response> {
    const [, token, method] = PATH.exec(decodeURIComponent(new URL(request.url).pathname)) ?? []
    if (token === undefined || method === undefined) return refused(new Refusal(404, 'Not Found'))
    const gone = AbortSignal.any([request.signal, closing.signal])
    const params: Params | undefined = await request.json().catch(() => undefined)
    const call: Call = { method, token, params: params ?? {}, status: undefined }
    calls.push(call)
    const response = await reply(call, gone)
    // A caller that has gone got nothing.
    if (!gone.aborted) call.status = response.statusText === CUT ? 0 : response.status
    return response
  }

  async function reply(call: Call, gone: AbortSignal): Promise<Response> {
    const rightly = () => perform(call, gone)
    const fault = faultOf(call)
    if (!fault) return await rightly()
    const early = fault.worksAnyway ? await rightly() : undefined
    await (fault.until ?? pause(fault.delayMs ?? 0, undefined, { signal: gone }).catch(() => {}))
    if (gone.aborted) return cut()
    return brokenReply(fault) ?? early ?? (await rightly())
  }

  async function perform({ token, method, params }: Call, gone: AbortSignal): Promise<Response> {
    try {
      if (!/^[1-9]\d*:[\w-]+$/.test(token)) throw new Refusal(404, 'Not Found')
      const bot = bots.get(Number(token.split(':')[0]))
      if (bot?.token !== token) throw new Refusal(401, 'Unauthorized')
      const run = methods[method]
      if (!run) throw new Refusal(404, 'Not Found: method not found')
      return Response.json({ ok: true, result: await run(bot, params, gone) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refused(error)
    }
  }

  /** The fault that befalls a call, the one named first before others. */
  function faultOf({ method, token }: Call): FaultFields | undefined {
    for (const fault of faults) {
      const { fields } = fault
      if (fields.method !== undefined && fields.method !== method) continue
      if (fields.bot !== undefined && !token.startsWith(`${fields.bot.id}:`)) continue
      fault.hits++
      if (fault.hits === fields.times) faults.delete(fault)
      return fields
    }
    return undefined
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: respond })

  return {
    url: server.url.origin,
    calls,
    callsOf: (method: string): Call[] => calls.filter((call) => call.method === method),

    bot: (fields: { username?: string; name?: string } = {}) => {
      const bot = newBot({ ...fields, id: 7_100_000_000 + ++lastId })
      bots.set(bot.id, bot)
      return bot
    },

    person: (fields: Partial<User> = {}): Person => {
      const id = 5_200_000_000 + ++lastId
      const user = { id, is_bot: false, first_name: 'Ada', ...fields }
      return newPerson({ bots, people, taps, botOf, until }, user)
    },

    answersTo,
    waitForAnswer: (tap: { id: string }) =>
      until(() => answersTo(tap)[0], `answer to tap ${tap.id}`),

    /** Calls go wrong from now on. Held ones end, so that pollers come and meet it at once. */
    fail: (fields: FaultFields) => {
      const fault = { fields, hits: 0 }
      faults.add(fault)
      if ((fields.method ?? 'getUpdates') === 'getUpdates')
        for (const { id, poll } of bots.values()) if (id === (fields.bot?.id ?? id)) poll.end()
      const end = () => void faults.delete(fault)
      return { end, hits: () => fault.hits, [Symbol.dispose]: end }
    },

    /** An update of any kind, such as no person of this API causes. */
    deliver: (bot: Named, update: Record<string, unknown>) => {
      for (const [kind, about] of Object.entries(update)) botOf(bot).queue.add(kind, about)
    },

    /** Delivers the latest updates once more under their old ids, whatever was confirmed. */
    redeliver: (bot: Named, count: number) => botOf(bot).queue.redeliver(count),

    /** Whether what waits is delivered with the latest first. */
    shuffle: (bot: Named, isOn: boolean) => botOf(bot).queue.shuffle(isOn),

    /** Telegram takes any id after a quiet week, a lower one too. */
    nextUpdateId: (bot: Named, id: number) => botOf(bot).queue.jumpTo(id),

    hold: (bot: Named) => botOf(bot).queue.hold(true),
    release: (bot: Named) => botOf(bot).queue.hold(false),

    pollers: (bot: Named): number => botOf(bot).poll.count(),
    waitForPoller: async (bot: Named, withinMs?: number): Promise<void> => {
      await until(() => botOf(bot).poll.count() || undefined, `poller of ${bot.id}`, withinMs)
    },

    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await server.stop(true)
    },
  }
}

/** Resolves with what `find` finds, as soon as it finds something. */
async function until<T>(find: () => T | undefined, what: string, withinMs = 4000): Promise<T> {
  await untilHolds(
    () => find() !== undefined,
    () => what,
    withinMs,
  )
  return find() as T
}

/** The reply that goes wrong; undefined where the fault is but slowness. */
function brokenReply(fault: FaultFields): Response | undefined {
  const { status, retryAfter, description } = fault
  if (fault.drop) return cut()
  if ('result' in fault) return Response.json({ ok: true, result: fault.result })
  if (fault.garbage) {
    const headers = { 'content-type': 'text/html' }
    return new Response('<html><body>An error occurred.</body></html>', { status, headers })
  }
  if (status === undefined && retryAfter === undefined) return undefined
  const code = status ?? 429
  const later = retryAfter === undefined ? '' : `: retry after ${retryAfter}`
  return refused(new Refusal(code, description ?? STATUS_CODES[code] + later, retryAfter))
}

function refused({ status, message, retryAfter }: Refusal): Response {
  const later = retryAfter !== undefined && { parameters: { retry_after: retryAfter } }
  return Response.json(
    { ok: false, error_code: status, description: message, ...later },
    { status },
  )
}

const CUT = 'Cut'
/** Ends the connection without a word. */
const cut = () =>
  new Response(new ReadableStream({ start: (stream) => stream.error() }), { statusText: CUT })
