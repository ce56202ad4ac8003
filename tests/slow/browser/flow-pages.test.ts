import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ASSETS } from '../../../src/console/assets.ts'
import { createFlowPages } from '../../../src/console/flow-pages.ts'
import {
  expectGoodPage,
  launchBrowser,
  NARROW_DARK,
  openPage,
  scrollsSideways,
  turnTo,
  WIDE,
} from '../../support/browser.ts'
import { CODES, CSRF, flowFixtures, noticeFixtures } from '../../support/flow-fixtures.ts'

const NOTICES = noticeFixtures().map(({ notice }) => notice as string)
const NAMES = [...Object.keys(flowFixtures()), ...NOTICES]
/** Pages with the markup of another page, and other words. */
const SAME_MARKUP = [...NAMES.filter((name) => name.startsWith('german-')), ...NOTICES.slice(2)]

const browser = await launchBrowser()
const page = await openPage(browser, 'about:blank')
const withoutScripts = await openPage(browser, 'about:blank', WIDE, { javaScript: false })
const server = serveFixtures()
const elsewhere = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response('the app'),
})

beforeEach(() => {
  server.sent.length = 0
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await elsewhere.stop(true)
})

/** Serves each fixture under its name and keeps what forms send. */
function serveFixtures() {
  const pages = createFlowPages()
  const sent: Record<string, string>[] = []
  const answers: { redirect?: string; formTargets?: string[] } = {}
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { origin, pathname } = new URL(request.url)
      const name = pathname.split('/').at(-1) as string
      if (request.method === 'POST') {
        sent.push(Object.fromEntries(new URLSearchParams(await request.text())))
        if (answers.redirect) return Response.redirect(answers.redirect, 303)
        return new Response('received')
      }
      const asset = ASSETS[name]
      if (asset) return new Response(asset.text, { headers: { 'content-type': asset.type } })
      const flow = flowFixtures(origin)[name]
      if (flow) return pages.flow({ ...flow, formTargets: answers.formTargets })
      const notice = noticeFixtures().find((page) => page.notice === name)
      return notice ? pages.notice(notice) : new Response(null, { status: 404 })
    },
  })
  return {
    sent,
    answers,
    url: listener.url.origin,
    at: (name: string) => `${listener.url.origin}/fixtures/${name}`,
    stop: () => listener.stop(true),
  }
}

const open = (name: string) => page.goto(server.at(name))

/** Buttons, links and fields that are too small for a finger. */
const smallTargets = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, summary, .button, .others a, .field input')]
      .filter((element) => element.getAttribute('type') !== 'checkbox')
      .filter((element) => element.checkVisibility())
      .filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML),
  )

test('every page is accessible in light and dark, fits narrow screens, and loads only its own files', async () => {
  const complaints: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('request', (request) => {
    if (!/^data:/.test(request.url()) && !request.url().startsWith(server.url))
      foreign.push(request.url())
  })
  for (const name of NAMES) {
    await open(name)
    if (!SAME_MARKUP.includes(name)) await expectGoodPage(page, `flow-${name}`)
    await turnTo(page, NARROW_DARK)
    const isTooWide = await scrollsSideways(page)
    expect([name, isTooWide, await smallTargets()]).toEqual([name, false, []])
  }
  await turnTo(page, WIDE)
  page.removeAllListeners('console')
  page.removeAllListeners('request')

  // For the browser, a page with status 404 or 422 is a failure.
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  expect(foreign).toEqual([])
}, 120_000)

describe('without scripts', () => {
  const email = 'ada@example.com'
  const password = 'correct horse'

  test.each([
    ['login', { identifier: email, password }, '[value=password]', { method: 'password' }],
    ['login', { identifier: email }, '[value=code]', { method: 'code', password: '' }],
    ['login', {}, '[value=google]', { provider: 'google' }],
    ['settings-new', { password }, '[value=password]', { method: 'password' }],
  ])('the form of %s with %j, sent by button%s, adds %j', async (name, fields, button, added) => {
    await withoutScripts.goto(server.at(name))
    for (const [field, value] of Object.entries(fields))
      await withoutScripts.fill(`[name="${field}"]`, value)
    await withoutScripts.click(`button${button}`)
    await withoutScripts.waitForSelector('text=received')
    expect(server.sent).toEqual([{ csrf_token: CSRF, ...fields, ...added }])
  })

  test('resending a code drops what was typed', async () => {
    await withoutScripts.goto(server.at('login-code'))
    await withoutScripts.fill('[name=code]', '12')
    await withoutScripts.click('button[name=resend]')
    await withoutScripts.waitForSelector('text=received')
    expect(server.sent).toEqual([
      { csrf_token: CSRF, identifier: email, method: 'code', resend: 'code' },
    ])
  })

  test.each([
    ['login-second-factor', 'summary', '[name=lookup_secret]', 'method', 'lookup_secret'],
    [
      'settings-kept',
      'summary:has-text("Remove auth")',
      '[name=totp_unlink]',
      'totp_unlink',
      'true',
    ],
  ])('%s hides what is rarely needed behind %s', async (name, fold, hidden, field, value) => {
    await withoutScripts.goto(server.at(name))
    const target = withoutScripts.locator(hidden).first()
    expect(await target.isVisible()).toBe(false)
    await withoutScripts.click(fold)
    if (field === 'method') await target.fill('k7fw2m9qxa')
    await target.press('Enter')
    await withoutScripts.waitForSelector('text=received')
    expect(server.sent).toMatchObject([{ csrf_token: CSRF, [field]: value }])
  })
})

describe('the keyboard', () => {
  const focused = () =>
    page.evaluate(() => {
      const { name, value, textContent, tagName } = document.activeElement as HTMLInputElement
      return tagName === 'BUTTON' ? `${name}=${value}` : name || textContent
    })

  /** Everything on the page that takes the focus, in the order of the Tab key, with its outline. */
  async function tabThrough(name: string, steps: number) {
    await open(name)
    // The browser sets the focus once it has drawn the page.
    if (name === 'login') await page.waitForFunction(() => document.activeElement !== document.body)
    const order = []
    for (let step = 0; step < steps; step++) {
      if (name !== 'login' || step > 0) await page.keyboard.press('Tab')
      order.push(await focused())
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element)
        return document.activeElement === document.body ? '' : outlineStyle + outlineWidth
      })
      expect(outline).not.toMatch(/^none\d|^[a-z]+0px/)
    }
    return order
  }

  test('starts at the first field, goes from top to bottom, and shows where it is', async () => {
    expect(await tabThrough('login', 9)).toEqual([
      ...['identifier', 'password', 'method=password', 'method=code'],
      ...['provider=github', 'provider=google', 'provider=apple'],
      ...['Create an account', 'Forgot your password?'],
    ])
    for (const name of ['login-second-factor', 'settings-kept']) await tabThrough(name, 15)
  }, 30_000)

  test('sends by Enter what belongs to the field, and nothing while a field is empty', async () => {
    await open('login')
    await page.fill('[name=identifier]', 'ada@example.com')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('password')
    expect(server.sent).toEqual([])

    await page.keyboard.type('correct horse')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=received')
    expect(server.sent).toMatchObject([{ method: 'password' }])
  }, 30_000)
})

test('one click selects the whole setup key, or all recovery codes', async () => {
  const selected = async (name: string, selector: string) => {
    await open(name)
    await page.click(selector)
    return page.evaluate(() => `${getSelection()}`.trim())
  }

  expect(await selected('settings-new', '.key')).toBe('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
  expect((await selected('settings-kept', '.codes')).split(/\s*\n\s*/).slice(0, -1)).toEqual(CODES)
}, 30_000)

test('only recovery codes are printed', async () => {
  await open('settings-kept')
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })

  expect(await page.locator('.codes').isVisible()).toBe(true)
  expect(await page.locator('[name="traits.email"]').isVisible()).toBe(false)
  expect(await page.locator('button').locator('visible=true').count()).toBe(0)
  await page.emulateMedia({ media: 'screen' })
}, 30_000)

test('a form may lead to an app that the policy names, and to no other', async () => {
  const app = `${elsewhere.url.origin}/`
  server.answers.redirect = app
  for (const [targets, outcome] of [
    [[elsewhere.url.origin], 'arrived'],
    [[], 'refused'],
  ] as const) {
    server.answers.formTargets = [...targets]
    await open('login')
    const refusal = {
      predicate: (message: { text(): string }) => message.text().includes('form-action'),
    }
    const found = Promise.any([
      page.waitForEvent('console', refusal).then(() => 'refused'),
      page.waitForURL(app).then(() => 'arrived'),
    ])
    await page.click('button[value=google]')
    expect(await found).toBe(outcome)
  }
}, 30_000)
