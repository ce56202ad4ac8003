import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createFlowPages } from '../../../src/console/engine-pages.ts'
import { ASSETS } from '../../../views/assets.ts'
import {
  expectGoodPages,
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
const plain = await openPage(browser, 'about:blank', WIDE, { javaScript: false })
const pages = createFlowPages()
const sent: Record<string, string>[] = []
const answers: { redirect?: string; formTargets?: string[] } = {}

/** Serves each fixture under its name and keeps what forms send. */
const server = Bun.serve({
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
    if (asset) return new Response(asset.content, { headers: { 'content-type': asset.type } })
    const flow = flowFixtures(origin)[name]
    if (flow) return pages.flow({ ...flow, formTargets: answers.formTargets })
    const notice = noticeFixtures().find((page) => page.notice === name)
    return notice ? pages.notice(notice) : new Response(null, { status: 404 })
  },
})
const open = (name: string, on = page) => on.goto(`${server.url.origin}/fixtures/${name}`)

beforeEach(() => {
  sent.length = 0
})
afterAll(async () => {
  await browser.close()
  await server.stop(true)
})

/** Buttons, links and fields that are too small for a finger. */
const smallTargets = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, summary, .button, .others a, .field input')]
      .filter((element) => element.getAttribute('type') !== 'checkbox')
      .filter((element) => element.checkVisibility())
      .filter((element) => element.getBoundingClientRect().height < 44)
      .map((element) => element.outerHTML),
  )

test('Every page is accessible in light and dark, fits narrow screens, and loads only its own files', async () => {
  const complaints: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('request', (request) => {
    if (!/^data:/.test(request.url()) && !request.url().startsWith(server.url.origin))
      foreign.push(request.url())
  })
  await turnTo(page, NARROW_DARK)
  const checked: { name: string; html: string }[] = []
  for (const name of NAMES) {
    const html = (await (await open(name))?.text()) ?? ''
    expect([name, await scrollsSideways(page), await smallTargets()]).toEqual([name, false, []])
    if (!SAME_MARKUP.includes(name)) checked.push({ name: `flow-${name}`, html })
  }
  await expectGoodPages(page, checked)
  page.removeAllListeners()
  // For the browser, a page with status 404 or 422 is a failure.
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  expect(foreign).toEqual([])
}, 120_000)

const email = 'ada@example.com'
const password = 'correct horse'

const typed = { identifier: email, password }
const resent = { identifier: email, method: 'code', resend: 'code' }

test.each([
  ['login', typed, '[value=password]', { ...typed, method: 'password' }],
  ['login', { identifier: email }, '[value=code]', { ...typed, password: '', method: 'code' }],
  ['login', {}, '[value=google]', { provider: 'google' }],
  ['login-code', { code: '12' }, '[name=resend]', resent],
  ['settings-new', { password }, '[value=password]', { password, method: 'password' }],
])(
  'Without scripts, the form of %s with %j and button%s submits %j',
  async (name, fields, button, expected) => {
    await open(name, plain)
    for (const [field, value] of Object.entries(fields))
      await plain.fill(`[name="${field}"]`, value)
    await plain.click(`button${button}`)
    await plain.waitForSelector('text=received')
    expect(sent).toEqual([{ csrf_token: CSRF, ...expected }])
  },
)

test('What is rarely needed is hidden until it is unfolded', async () => {
  for (const [name, fold, hidden] of [
    ['login-second-factor', 'summary', '[name=lookup_secret]'],
    ['settings-kept', 'summary:has-text("Remove auth")', '[name=totp_unlink]'],
  ] as const) {
    await open(name, plain)
    const target = plain.locator(hidden).first()
    expect(await target.isVisible()).toBe(false)
    await plain.click(fold)
    if (name === 'login-second-factor') await target.fill('k7fw2m9qxa')
    await target.press('Enter')
    await plain.waitForSelector('text=received')
  }
  expect(sent).toMatchObject([{ method: 'lookup_secret' }, { totp_unlink: 'true' }])
})

const focused = () =>
  page.evaluate(() => {
    const { name, value, textContent, tagName, ariaLabel } =
      document.activeElement as HTMLInputElement
    return ariaLabel ?? (tagName === 'BUTTON' ? `${name}=${value}` : name || textContent)
  })

/** Everything on the page that takes the focus, in the order of the Tab key, with its outline. */
async function tabThrough(name: string, steps: number) {
  await turnTo(page, WIDE)
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

test('The Tab key starts at the first field, goes from top to bottom, and shows where it is', async () => {
  expect(await tabThrough('login', 10)).toEqual([
    ...['identifier', 'password', 'Show password', 'method=password', 'method=code'],
    ...['provider=github', 'provider=google', 'provider=apple'],
    ...['Create an account', 'Forgot your password?'],
  ])
  for (const name of ['login-second-factor', 'settings-kept']) await tabThrough(name, 15)
}, 30_000)

test('A password can be shown, and is hidden again when it is sent', async () => {
  await open('login')
  const password = page.getByLabel('Password', { exact: true })
  const show = page.getByRole('button', { name: 'Show password' })
  await password.fill('correct horse')
  await show.click()
  expect(await password.getAttribute('type')).toBe('text')
  expect(await show.getAttribute('aria-pressed')).toBe('true')
  await page.locator('input[name=identifier]').fill('ada@example.com')
  await page.evaluate(() => addEventListener('submit', (event) => event.preventDefault()))
  await password.press('Enter')
  expect(await password.getAttribute('type')).toBe('password')
  await open('login', plain)
  expect(await plain.getByRole('button', { name: 'Show password' }).count()).toBe(0)
})

test('Enter sends what belongs to the field, and nothing while a field is empty', async () => {
  await open('login')
  await page.fill('[name=identifier]', email)
  await page.keyboard.press('Enter')
  expect([await focused(), sent]).toEqual(['password', []])
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=received')
  expect(sent).toMatchObject([{ method: 'password' }])
}, 30_000)

test('One click selects the whole setup key, or all recovery codes, which alone are printed', async () => {
  const selected = async (name: string, selector: string) => {
    await open(name)
    await page.click(selector)
    return page.evaluate(() => `${getSelection()}`.trim())
  }
  expect(await selected('settings-new', '.key')).toBe('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
  expect((await selected('settings-kept', '.codes')).split(/\s*\n\s*/)).toEqual(CODES)
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  expect(await page.locator('.codes').isVisible()).toBe(true)
  expect(await page.locator('[name="traits.email"]').isVisible()).toBe(false)
  expect(await page.locator('button').locator('visible=true').count()).toBe(0)
  await page.emulateMedia({ media: 'screen' })
}, 30_000)

test('A form may lead to an app that the policy names, and to no other', async () => {
  const fetch = () => new Response('the app')
  const elsewhere = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
  const { origin } = elsewhere.url
  answers.redirect = `${origin}/`
  for (const [targets, outcome] of [
    [[origin], 'arrived'],
    [[], 'refused'],
  ] as const) {
    answers.formTargets = [...targets]
    await open('login')
    const predicate = (message: { text(): string }) => message.text().includes('form-action')
    const found = Promise.any([
      page.waitForEvent('console', { predicate }).then(() => 'refused'),
      page.waitForURL(`${origin}/`).then(() => 'arrived'),
    ])
    await page.click('button[value=google]')
    expect(await found).toBe(outcome)
  }
  await elsewhere.stop(true)
}, 30_000)
