import { expect } from 'bun:test'
import { type TestApp, type TestAppOptions, useApp } from '../../../support/app.ts'

export const MONITORS = '/v1/clockwork/monitors'
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any

export type Fixture = Awaited<ReturnType<Awaited<ReturnType<typeof useMonitors>>['fresh']>>

/** The monitors of a test file; `fresh` has a tenant of its own. */
export async function useMonitors(options?: TestAppOptions) {
  const app = await useApp(options)
  return { app, fresh: () => monitorsOf(app) }
}

/** A new tenant and its monitors, made with what a test does not care about filled in. */
export async function monitorsOf(app: TestApp) {
  const acme = await app.tenant()
  const { api } = acme

  async function call(status: number, method: keyof typeof api, path: string, body?: Json) {
    const answer = await api[method](`${MONITORS}${path}`, body)
    expect(answer).toMatchObject({ status })
    return answer.body as Json
  }

  const pathOf = ({ ping_url }: Json, rest = '') => new URL(ping_url).pathname + rest

  return {
    ...{ app, acme, api, call, clock: app.clock },
    /** Expected every ten minutes, with five minutes of grace, unless told otherwise. */
    create: (fields: Json = {}): Promise<Json> =>
      call(201, 'post', '', {
        ...{ name: 'backup', grace_seconds: 300 },
        ...(fields.schedule === undefined && { period_seconds: 600 }),
        ...fields,
      }),
    read: ({ id }: Json): Promise<Json> => call(200, 'get', `/${id}`),
    pingsOf: ({ id }: Json): Promise<Json> => call(200, 'get', `/${id}/pings`),
    /** Sends a ping, whose answer is the status and the body. */
    async ping(monitor: Json, rest = '', init: RequestInit = {}) {
      const { status, body } = await app.raw(pathOf(monitor, rest), init)
      return [status, body]
    },
    /** The states that the monitor went through, oldest first. */
    storyOf: ({ id }: Json): string[] =>
      app.clockwork.queries.monitors.transitions(acme.id, id, 0).map(({ to }) => to),
  }
}
