import { expect } from 'bun:test'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'
import { ENDPOINTS, expectDescribed, MESSAGES } from './support.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any

export type Relay = Awaited<ReturnType<typeof bootRelay>>
export type Api = ReturnType<typeof apiOf>
export type Party = Awaited<ReturnType<Relay['party']>>

/** An application with one tenant that has a key of each environment, and one subscriber. */
export async function bootRelay(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const document = (await app.raw('/openapi.json')).body

  /** A tenant with a live and a test key. */
  async function party(name: string) {
    const tenant = await app.tenant(name)
    const { id: liveKeyId, key: liveKey } = await tenant.key('relay', 'live')
    const { key: testKey } = await tenant.key('relay', 'test')
    const [live, test] = [speak(liveKey), speak(testKey)]
    return { id: tenant.id, key: tenant.key, liveKeyId, liveKey, testKey, live, test }
  }

  const speak = (key: string) => apiOf({ app, document, key, url: target.url })

  async function end() {
    await target.stop()
    await app.stop()
  }

  const acme = await party('Acme')
  return {
    app,
    clock: app.clock,
    target,
    document,
    acme,
    ...acme.live,
    party,
    speak,
    /** Lets everything that was accepted be sent. */
    delivered: () => app.clock.settled(),
    end,
    [Symbol.asyncDispose]: end,
  }
}

/** The relay through one key. Every answer has to be one that the API document describes. */
export function apiOf(parts: { app: TestApp; document: Json; key: string; url: string }) {
  const { app, document, key, url } = parts
  const client = app.client(key)

  const call = (method: 'get' | 'post' | 'patch' | 'delete') => (path: string, body?: unknown) =>
    described(method, path, client[method](path, body))
  const [get, post, patch] = [call('get'), call('post'), call('patch')]

  async function described(method: string, path: string, asked: Promise<Answer>) {
    const answer = await asked
    expectDescribed(document, method, path, answer)
    return answer
  }

  async function read(path: string): Promise<Json> {
    const answer = await get(path)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    return answer.body
  }

  async function made(status: number, path: string, body?: unknown): Promise<Json> {
    const answer = await post(path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }

  return {
    get,
    post,
    patch,
    delete: call('delete'),
    read,
    /** Posts a body as it is spelled. */
    spelled: (body: string, headers: Record<string, string> = {}, path = MESSAGES) =>
      described(
        'post',
        path,
        app.raw(path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            ...headers,
          },
          body,
        }),
      ),
    /** A plain message unless told otherwise. */
    send: (fields: Json = {}) =>
      made(202, MESSAGES, { event_type: 'user.created', payload: { n: 1 }, ...fields }),
    /** Hears everything, at the one subscriber, unless told otherwise. */
    createEndpoint: (fields: Json = {}) => made(201, ENDPOINTS, { url, ...fields }),
    /** Newest first, walked page by page. */
    listAll: (path: string) => listAll(read, path),
  }
}

async function listAll(read: (path: string) => Promise<Json>, path: string): Promise<Json[]> {
  const all: Json[] = []
  let more = ''
  do {
    const page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=100${more}`)
    all.push(...page.data)
    const next = page.has_more ? `&cursor=${page.next_cursor}` : ''
    expect(next, `${path} goes on`).not.toBe(more || '&')
    more = next
  } while (more !== '')
  return all
}
