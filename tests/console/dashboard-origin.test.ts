import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newOperator } from '../support/operator.ts'
import {
  BY_KEY,
  BY_SESSION,
  bootDashboard,
  type Fixture,
  nameOf,
  type Route,
  type Tenant,
} from './dashboard-fixture.ts'

const OWN = 'https://console.example'

let fixture: Fixture
let acme: Tenant
let cookie: string
beforeAll(async () => {
  fixture = await bootDashboard({ flags: { 'server-base-url': `${OWN}/installation` } })
  acme = await fixture.app.tenant('Acme')
  cookie = (await (await newOperator(fixture.app, { roles: { [acme.id]: 'owner' } })).signIn())
    .cookie
})
afterAll(() => fixture.end())

const isSafe = ({ method }: Route) => method === 'GET'

/** What a browser, or a program, says of where a request comes from. */
const OURS: Record<string, Record<string, string>> = {
  'a program, which says nothing': {},
  'a page of ours': { 'sec-fetch-site': 'same-origin', origin: OWN },
  'a page of ours, to which a proxy has given another name': {
    'sec-fetch-site': 'same-origin',
    origin: 'https://inside.example',
  },
  'a page of ours, in a browser that does not say so': { origin: OWN },
  'the user, by hand': { 'sec-fetch-site': 'none' },
  'the user, by hand, at our address': { 'sec-fetch-site': 'none', origin: OWN },
}

const FOREIGN: Record<string, Record<string, string>> = {
  'a page of another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  'a page of another site that claims to be ours': { 'sec-fetch-site': 'cross-site', origin: OWN },
  'a page of a neighbour': { 'sec-fetch-site': 'same-site', origin: 'https://other.example' },
  'a page of a neighbour without an origin': { 'sec-fetch-site': 'same-site' },
  'something that has no name yet': { 'sec-fetch-site': 'beside-us', origin: OWN },
  'nothing that is a word': { 'sec-fetch-site': '' },
  'the user, at another address': { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
  'another site, in a browser that does not say so': { origin: 'https://evil.example' },
  'an origin that is kept back': { origin: 'null' },
  'our name without encryption': { origin: 'http://console.example' },
  'our name at another port': { origin: 'https://console.example:8443' },
  'a name that begins like ours': { origin: 'https://console.example.evil.example' },
  'no origin at all': { origin: '' },
}

describe('what changes something is done for', () => {
  test.each(Object.entries(OURS))('%s', async (_, from) => {
    for (const route of fixture.routes) {
      const id = await fixture.jobFor(route, acme)
      const { status } = await fixture.send(BY_SESSION, route, { headers: { cookie, ...from }, id })
      expect(status, nameOf(route)).toBeLessThan(300)
    }
  })
})

describe('what changes something is refused, and nothing done, for', () => {
  test.each(Object.entries(FOREIGN))('%s', async (_, from) => {
    for (const route of fixture.routes.filter((route) => !isSafe(route))) {
      const id = await fixture.jobFor(route, acme)
      const before = fixture.stored()
      const headers = { cookie, ...from }
      const answer = await fixture.send(BY_SESSION, route, { headers, id })
      expect({ route: nameOf(route), ...answer }).toMatchObject({
        status: 403,
        body: { error: expect.stringMatching(/^(Sec-Fetch-Site|Origin): /) },
      })
      expect(fixture.stored()).toEqual(before)
    }
  })
})

test('reads are answered wherever they come from, for the browser to keep from the page', async () => {
  for (const from of Object.values(FOREIGN))
    for (const route of fixture.routes.filter(isSafe)) {
      const id = await fixture.jobFor(route, acme)
      const headers = { cookie, ...from }
      const answer = await fixture.send(BY_SESSION, route, { headers, id })
      expect(answer.status, nameOf(route)).toBe(200)
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
})

test('the refusal says which address would be right', async () => {
  const headers = { cookie, origin: 'http://192.168.1.5:8080' }
  const { body } = await fixture.send(BY_SESSION, { method: 'POST', path: '/jobs' }, { headers })

  expect(body.error).toBe(
    'Origin: must be https://console.example, the URL of this installation, not http://192.168.1.5:8080',
  )
})

test('who is not signed in is told that first', async () => {
  for (const headers of Object.values(FOREIGN))
    for (const route of fixture.routes) {
      const { status } = await fixture.send(BY_SESSION, route, { headers })
      expect([nameOf(route), status]).toEqual([nameOf(route), 401])
    }
})

test('to keys, which no browser adds by itself, it is all the same', async () => {
  for (const from of Object.values(FOREIGN))
    for (const route of fixture.routes) {
      const headers = { authorization: `Bearer ${acme.secret}`, ...from }
      const id = await fixture.jobFor(route, acme)
      const { status } = await fixture.send(BY_KEY, route, { headers, id })
      expect(status, nameOf(route)).toBeLessThan(300)
    }
})
