import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { newOperator } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { servedApp } from './console-fixture.ts'

const SECOND = 1000

let browser: Browser
let context: BrowserContext

beforeAll(async () => {
  browser = await launchBrowser()
  context = await browser.newContext()
}, 60_000)

afterAll(() => browser.close())

/** Somebody at a page of a tenant that sends events, and a way to send one. */
async function watching(path: string) {
  const app = await servedApp()
  const target = startTarget()
  const acme = await app.tenant('Acme')
  const relay = app.client((await acme.key('relay')).key)
  await relay.post('/v1/relay/endpoints', { url: target.url })
  async function send(type: string) {
    await relay.post('/v1/relay/messages', { event_type: type, payload: {} })
    await app.clock.settled()
    await app.clock.advance(SECOND)
  }
  await send('order.old')
  const session = await (await newOperator(app, { roles: { [acme.id]: 'owner' } })).signIn()
  await context.addCookies([
    { name: 'identity_session', value: session.token, url: app.url, httpOnly: true },
  ])
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(app.url + path)
  await streams(1)

  /** Waits until so many pages are kept up to date. */
  async function streams(count: number) {
    while (app.live.count() !== count) await Bun.sleep(10)
  }

  return {
    app,
    page,
    errors,
    session,
    send,
    streams,
    [Symbol.asyncDispose]: async () => {
      await page.goto('about:blank')
      await app[Symbol.asyncDispose]()
      await target.stop()
    },
  }
}

const turnAway = (page: Page, isHidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)

test.each(['/console', '/console/deliveries'])(
  '%s shows what is new, in its place and once, and what has come while nobody looked',
  async (path) => {
    await using here = await watching(path)
    const { page } = here
    await here.send('order.new')
    const found = page.locator('main').getByText('order.new', { exact: true })
    await found.waitFor()
    expect(await found.count()).toBe(1)
    const list = (await page.locator('main').textContent()) ?? ''
    expect(list.indexOf('order.new')).toBeLessThan(list.indexOf('order.old'))

    await turnAway(page, true)
    await here.streams(0)
    await here.send('order.unseen')
    await turnAway(page, false)
    await page.locator('main').getByText('order.unseen', { exact: true }).waitFor()
    expect(here.errors).toEqual([])
  },
  60_000,
)

test('somebody who has signed out is told nothing more, and does not ask again', async () => {
  await using here = await watching('/console')
  const asked: string[] = []
  here.page.on('request', (request) => asked.push(request.url()))
  await here.session.end()
  await here.app.clock.advance(SECOND)
  await here.streams(0)
  await here.send('order.secret')
  // As long as it takes to come again, had the connection broken.
  await here.page.waitForTimeout(1500)
  expect(asked).toEqual([])
  expect(await here.page.locator('main').textContent()).not.toContain('order.secret')
}, 60_000)

test('who goes on to another page leaves the stream of the one before', async () => {
  await using here = await watching('/console')
  await here.page.getByRole('link', { name: 'Deliveries', exact: true }).first().click()
  await here.page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await here.streams(1)
  await here.page.getByRole('link', { name: 'Settings', exact: true }).click()
  await here.streams(0)
}, 60_000)
