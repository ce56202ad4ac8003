import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { ASSETS } from '../../src/console/assets.ts'
import { createFlowPages } from '../../src/console/flow-pages.ts'
import {
  closePages,
  LOOKS,
  type Look,
  launchBrowser,
  openPage,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../support/browser.ts'
import { CODES, CSRF, flowFixtures, noticeFixtures } from '../support/flow-fixtures.ts'

let browser: Browser
let server: ReturnType<typeof serveFixtures>
let elsewhere: ReturnType<typeof serveElsewhere>

beforeAll(async () => {
  browser = await launchBrowser()
  server = serveFixtures()
  elsewhere = serveElsewhere()
}, 60_000)

afterEach(async () => {
  await closePages(browser)
  server.sent.length = 0
  server.answers.redirect = undefined
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await elsewhere.stop()
})

/** Each fixture under its name; keeps what its forms send. */
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
      if (pathname.startsWith('/assets/')) {
        const asset = ASSETS[name]
        return asset
          ? new Response(asset.text, { headers: { 'content-type': asset.type } })
          : new Response(null, { status: 404 })
      }
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

/** Somebody else's server, such as the tenant's app. */
function serveElsewhere() {
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('<h1>the app</h1>', { headers: { 'content-type': 'text/html' } }),
  })
  return { url: listener.url.origin, stop: () => listener.stop(true) }
}

const open = (name: string, look: Look = LOOKS[0]) =>
  openPage(browser, server.at(name), look, { javaScript: false })

const NAMES = [
  ...Object.keys(flowFixtures()),
  ...noticeFixtures().map(({ notice }) => notice as string),
]

/** As tall as what is on it, so that the picture shows all of it. */
async function showWhole(page: Page, { width, height }: Look) {
  const tall = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width, height: Math.max(height, tall) })
}

/** Both widths and both schemes: what axe looks at depends on one of them at a time. */
const LOOKED_INTO = ['wide-light', 'narrow-dark']

describe.each(LOOKS)('every page in $name', (look) => {
  test('has nothing that sticks out, and nothing serious for axe where that looks', async () => {
    const page = await openPage(browser, 'about:blank', look)
    for (const name of NAMES) {
      await page.setViewportSize({ width: look.width, height: look.height })
      await page.goto(server.at(name))

      expect([name, await scrollsSideways(page)]).toEqual([name, false])
      if (LOOKED_INTO.includes(look.name))
        expect([name, await seriousFindings(page)]).toEqual([name, []])
      await showWhole(page, look)
      await screenshot(page, `flow-${name}-${look.name}`)
    }
  }, 120_000)
})

describe('without scripts', () => {
  /** What a button sends, after the fields have been filled in. */
  async function sends(name: string, fields: Record<string, string>, button: string) {
    const page = await open(name)
    for (const [field, value] of Object.entries(fields)) await page.fill(`[name="${field}"]`, value)
    await page.click(button)
    await page.waitForSelector('text=received')
    return server.sent
  }

  test('a password is sent with its address', async () => {
    const fields = { identifier: 'ada@example.com', password: 'correct horse' }
    expect(await sends('login', fields, 'button[value=password]')).toEqual([
      { csrf_token: CSRF, ...fields, method: 'password' },
    ])
  }, 30_000)

  test('a code is asked for with the address alone', async () => {
    const fields = { identifier: 'ada@example.com' }
    expect(await sends('login', fields, 'button[value=code]')).toEqual([
      { csrf_token: CSRF, ...fields, password: '', method: 'code' },
    ])
  }, 30_000)

  test('another code is asked for without what was typed', async () => {
    expect(await sends('login-code', { code: '12' }, 'button[name=resend]')).toEqual([
      { csrf_token: CSRF, identifier: 'ada@example.com', method: 'code', resend: 'code' },
    ])
  }, 30_000)

  test('a provider needs no field', async () => {
    expect(await sends('login', {}, 'button[value=google]')).toEqual([
      { csrf_token: CSRF, provider: 'google' },
    ])
  }, 30_000)

  test('a recovery code is behind its fold', async () => {
    const page = await open('login-second-factor')
    expect(await page.locator('[name=lookup_secret]').isVisible()).toBe(false)

    await page.click('summary')
    await page.fill('[name=lookup_secret]', 'k7fw2m9qxa')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=received')
    expect(server.sent).toEqual([
      { csrf_token: CSRF, lookup_secret: 'k7fw2m9qxa', method: 'lookup_secret' },
    ])
  }, 30_000)

  test('settings are saved one at a time, the account of a new password is not sent', async () => {
    expect(
      await sends('settings-new', { password: 'correct horse' }, 'button[value=password]'),
    ).toEqual([{ csrf_token: CSRF, password: 'correct horse', method: 'password' }])
  }, 30_000)

  test('the authenticator goes only after a second click', async () => {
    const page = await open('settings-kept')
    const remove = page.locator('button[name=totp_unlink]')
    expect(await remove.isVisible()).toBe(false)

    await page.click('summary:has-text("Remove authenticator app")')
    await remove.click()
    await page.waitForSelector('text=received')
    expect(server.sent).toEqual([{ csrf_token: CSRF, totp_unlink: 'true' }])
  }, 30_000)
})

describe('the keyboard', () => {
  const focusedName = (page: Page) =>
    page.evaluate(() => {
      const { name, value, textContent, tagName } = document.activeElement as HTMLInputElement
      if (tagName === 'BUTTON') return `${name}=${value}`
      return name || textContent
    })

  test('starts where typing starts and goes from top to bottom', async () => {
    const page = await openPage(browser, server.at('login'))
    // The browser gives the focus once it has drawn the page.
    await page.waitForFunction(() => document.activeElement !== document.body)
    const order = [await focusedName(page)]
    for (let step = 0; step < 8; step++) {
      await page.keyboard.press('Tab')
      order.push(await focusedName(page))
    }

    expect(order).toEqual([
      'identifier',
      'password',
      'method=password',
      'method=code',
      'provider=github',
      'provider=google',
      'provider=apple',
      'Create an account',
      'Forgot your password?',
    ])
  }, 30_000)

  test('sends what belongs to the field by Enter, and nothing while something is missing', async () => {
    const page = await openPage(browser, server.at('login'))
    await page.fill('[name=identifier]', 'ada@example.com')
    await page.keyboard.press('Enter')
    expect(await focusedName(page)).toBe('password')
    expect(server.sent).toEqual([])

    await page.keyboard.type('correct horse')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=received')
    expect(server.sent).toMatchObject([{ method: 'password' }])
  }, 30_000)

  test('can be seen wherever it is', async () => {
    const page = await openPage(browser, 'about:blank')
    for (const name of ['login', 'login-second-factor', 'settings-kept']) {
      await page.goto(server.at(name))
      await page.locator('body').press('Tab')
      for (let step = 0; step < 15; step++) {
        const outline = await page.evaluate(() => {
          const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element)
          return document.activeElement === document.body
            ? 'none here'
            : outlineStyle + outlineWidth
        })
        expect(outline).not.toMatch(/^none\d|^[a-z]+0px/)
        await page.keyboard.press('Tab')
      }
    }
  }, 30_000)
})

test('what can be touched is 44 pixels high', async () => {
  const page = await openPage(browser, 'about:blank', LOOKS[2])
  const small: string[] = []
  for (const name of NAMES) {
    await page.goto(server.at(name))
    small.push(
      ...(await page.evaluate(() =>
        [...document.querySelectorAll('button, summary, .button, .others a, .field input')]
          .filter((element) => element.getAttribute('type') !== 'checkbox')
          .filter((element) => element.checkVisibility())
          .filter((element) => element.getBoundingClientRect().height < 44)
          .map((element) => element.outerHTML),
      )),
    )
  }

  expect(small).toEqual([])
}, 60_000)

test('one click takes the key whole, and all the codes', async () => {
  const taken = async (name: string, selector: string) => {
    const page = await openPage(browser, server.at(name))
    await page.click(selector)
    return page.evaluate(() => `${getSelection()}`.trim())
  }

  expect(await taken('settings-new', '.key')).toBe('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
  expect((await taken('settings-kept', '.codes')).split(/\s*\n\s*/).slice(0, -1)).toEqual(CODES)
}, 30_000)

test('of settings with recovery codes, only these are printed', async () => {
  const page = await openPage(browser, server.at('settings-kept'))
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })

  expect(await page.locator('.codes').isVisible()).toBe(true)
  expect(await page.locator('[name="traits.email"]').isVisible()).toBe(false)
  expect(await page.locator('button').locator('visible=true').count()).toBe(0)
}, 30_000)

describe('the policy', () => {
  test('has nothing to complain of, and nothing comes from elsewhere', async () => {
    const page = await openPage(browser, 'about:blank')
    const complaints: string[] = []
    const foreign: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(server.url) && !url.startsWith('data:')) foreign.push(url)
    })

    for (const name of NAMES) await page.goto(server.at(name), { waitUntil: 'load' })

    // A page that says 404 or 422 is a failure to the browser's console, and none to us.
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
    expect(foreign).toEqual([])
  }, 60_000)

  const leadsOn = async () => {
    server.answers.redirect = `${elsewhere.url}/`
    const page = await openPage(browser, server.at('login'))
    const outcome = Promise.any([
      page
        .waitForEvent('console', (message) => message.text().includes('form-action'))
        .then(() => 'refused'),
      page.waitForURL(`${elsewhere.url}/`).then(() => 'arrived'),
    ])
    await page.click('button[value=google]')
    return outcome
  }

  test('lets a form lead to an app that is named, and to no other', async () => {
    server.answers.formTargets = [elsewhere.url]
    expect(await leadsOn()).toBe('arrived')

    server.answers.formTargets = []
    expect(await leadsOn()).toBe('refused')
  }, 30_000)
})
