import type { Answer, TestApp, TestAppOptions } from '../../../support/app.ts'
import {
  bootGate,
  describedClient,
  expectAsDescribed,
  gateOf,
  type Method,
  START,
} from '../fixture.ts'

export * from '../fixture.ts'

/** `ms` after the clock of a test has started. */
export const later = (ms: number): string => new Date(Date.parse(START) + ms).toISOString()

export type Fixture = Awaited<ReturnType<typeof bootPeople>>
export type Party = Awaited<ReturnType<Fixture['party']>>

/** For bad-input.test.ts and sign-in/verification.test.ts; other tests call `useGate`. */
export async function bootPeople(options: TestAppOptions = {}) {
  const { app, clock, acme, key, [Symbol.asyncDispose]: end } = await bootGate(options)
  const document = (await app.raw('/openapi.json')).body

  const speak = (key: string) => {
    const api = describedClient(app, key)
    return { key, ...gateOf(app, api), spelled: spelledBy(app, key) }
  }

  /** One more tenant, with a live key. */
  async function party(name = 'Globex') {
    const { id, key } = await app.tenant(name)
    return { id, ...speak((await key('gate', 'live')).key) }
  }

  return {
    app,
    clock,
    acme,
    document,
    party,
    speak,
    end,
    ...speak(key),
    [Symbol.asyncDispose]: end,
  }
}

/** Sends a body without encoding it. */
const spelledBy =
  (app: TestApp, key: string) =>
  async (
    method: Method,
    path: string,
    body: BodyInit | undefined,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<Answer> => {
    const init = {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, ...headers },
    }
    const answer = await app.raw(path, body === undefined ? init : { ...init, body })
    await expectAsDescribed(app, method, path, answer)
    return answer
  }
