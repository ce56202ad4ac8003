import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { MINUTE, type SignedIn, useConsole } from '../../console/fixture.ts'
import { addOneOfEach, pathOf } from '../../console/one-of-each.ts'
import {
  findingsOf,
  LOOKS,
  type Look,
  launchBrowser,
  NARROW,
  NARROW_DARK,
  screenshot,
  scrollsSideways,
  turnTo,
  WIDE,
} from '../../support/browser.ts'
import { newAccount, startProviders } from '../../support/social/index.ts'

const LONG = 'wideandunbroken'.repeat(15)

const app = await useConsole()
const acme = await app.newTenant('Nordlicht Coffee')
const parameters = await addOneOfEach(app, acme, { name: LONG, type: 'order.paid', note: LONG })
await acme.job({ name: 'Refresh prices', schedule: '0 3 * * *' })
await acme.endpoint({ active: false })
const other = await app.tenant('Fjord Bikes')
const roles = { [acme.id]: 'owner', [other.id]: 'owner' } as const
const operator = await app.signIn({ roles })
await operator.actIn(acme.id)

const browser = await launchBrowser()
// As one process, the browser sends the cookies of the first context with requests of all scripts.
const scripted = await (await browser.newContext()).newPage()
const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
for (const page of [scripted, plain]) page.setDefaultTimeout(20_000)
const reports: string[] = []
scripted.on('console', (message) => reports.push(message.text()))
scripted.on('pageerror', (error) => reports.push(`${error}`))
afterAll(() => browser.close())

interface Options {
  look?: Look
  as?: SignedIn
  javaScript?: boolean
}

/** Opens a page of the console in the only tab; `reports` has what the browser says about it. */
async function open(path: string, { look = WIDE, as = operator, javaScript = true }: Options = {}) {
  const page = javaScript ? scripted : plain
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.context().addCookies([{ name: 'identity_session', value: as.token, url: app.url }])
  await turnTo(page, look)
  reports.length = 0
  await page.goto(`${app.url}/console${path}`)
  return page
}

const JOB = { name: 'report', schedule: '0 4 * * *', url: acme.target.url }
const ofJob = pathOf('/console/jobs/:id', parameters).replace('/console', '')
const ofDelivery = pathOf('/console/deliveries/:id', parameters).replace('/console', '')

const focused = (page: Page) => page.evaluate(() => document.activeElement?.outerHTML ?? '')
const reads = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** Table cells that overlap their neighbors. */
const overlaps = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.rows td > .cell')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(({ textContent }) => textContent),
  )

/** Controls with a touch target lower than 44 px. */
const tooLow = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, .button, summary, select, .chips a, .tabs a, .tick')]
      .filter((element) => element.checkVisibility() && !element.closest('dialog'))
      .filter((element) => element.getBoundingClientRect().width > 4)
      .filter((element) => {
        const reach = Number.parseFloat(getComputedStyle(element, '::after').height) || 0
        const own = element.closest('.control, .choice') ?? element
        return Math.max(reach, own.getBoundingClientRect().height) < 43.5
      })
      .map(({ outerHTML }) => outerHTML),
  )

test('A page of each layout fits every width and finger, with long words', async () => {
  for (const path of ['', ofJob, '/jobs/new', '/endpoints', ofDelivery]) {
    const page = await open(path)
    const tooWide: number[] = []
    for (const width of [901, 641, 320]) {
      await page.setViewportSize({ width, height: 800 })
      if (await scrollsSideways(page)) tooWide.push(width)
    }
    await page.setViewportSize(NARROW)
    expect([path, tooWide, await overlaps(page), await tooLow(page)]).toEqual([path, [], [], []])
    expect(reports).toEqual([])
  }
}, 60_000)

test('Menu, search and dialog are accessible and fit a narrow dark screen', async () => {
  const page = await open(ofJob, { look: NARROW_DARK })
  await page.click('.account > summary')
  expect(await findingsOf(page, '.topbar')).toEqual([])
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  expect(await findingsOf(page, '#palette')).toEqual([])
  await page.keyboard.press('Escape')
  await page.click('summary:has-text("Delete job")')
  expect(await findingsOf(page, 'dialog[open]')).toEqual([])
  expect(await scrollsSideways(page)).toBe(false)
})

test('Without scripts, a job is deleted, and environment, theme and tenant are switched', async () => {
  const as = await app.signIn({ roles })
  await as.actIn(acme.id)
  const id = await acme.job({ schedule: '0 3 * * *' })
  const page = await open(`/jobs/${id}`, { javaScript: false, as })
  await page.click('summary:has-text("Delete")')
  await page.click('.question button:has-text("Delete")')
  await reads(page, 'Jobs')
  expect(app.clockwork.jobs.list(acme.id).map((job) => job.id)).not.toContain(id)
  await page.goto(`${app.url}/console/endpoints`)
  await page.click('.environment a:has-text("Test")')
  expect(await page.textContent('.environment [aria-current]')).toBe('Test')
  await page.click('.theme button:visible')
  expect(await page.getAttribute('html', 'data-theme')).toBe('light')
  await page.click('.switcher > summary')
  await page.click('.switcher button:has-text("Fjord Bikes")')
  expect(await page.textContent('.switcher > summary')).toContain('Fjord Bikes')
})

test('Without scripts, search is a page, filters have a button, the sidebar opens on narrow screens, and a new key asks to be saved', async () => {
  const page = await open('/endpoints', { javaScript: false })
  expect(await page.isVisible('.filterbar button[type="submit"]')).toBe(true)
  expect(await page.locator('.copy:visible, .search kbd:visible').count()).toBe(0)
  await page.setViewportSize(NARROW)
  expect(await page.isVisible('#sidebar')).toBe(false)
  await page.click('.menubutton')
  expect(await page.isVisible('#sidebar')).toBe(true)
  await page.keyboard.press('Escape')
  await page.click('.search')
  expect(page.url()).toEndWith(`/console/${acme.id}/find`)
  await page.goto(`${app.url}/console/keys/new?engine=clockwork`)
  await page.fill('[name="name"]', 'Shop')
  await page.click('button:has-text("Create")')
  const { href } = new URL(page.url())
  await page.click('button:has-text("Continue")')
  expect(page.url()).toBe(href)
  await page.check('#secret-saved')
  await page.click('button:has-text("Continue")')
  await reads(page, 'API keys')
})

test('Leaving a new key asks whether it is saved', async () => {
  const page = await open('/keys/new?engine=clockwork')
  await page.fill('[name="name"]', 'Shop')
  await page.click('button:has-text("Create")')
  await page.click('.crumbs a >> nth=0')
  expect(await page.textContent('dialog[open] h3')).toBe('Have you saved the key?')
  await page.click('dialog[open] button:has-text("Go back")')
  expect(await page.isVisible('#secret-saved')).toBe(true)
  // A search that leads nowhere is not a way out.
  await page.evaluate(() =>
    document.querySelector<HTMLFormElement>('#palette form')?.requestSubmit(),
  )
  const isGuarded = () =>
    page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  expect(await isGuarded()).toBe(true)
  await page.click('.crumbs a >> nth=0')
  await page.click('dialog[open] button:has-text("Leave page")')
  await reads(page, 'API keys')
})

test('A password is shown while its button is pressed, and hidden again when it is sent', async () => {
  const page = await open('/identities/new')
  const field = page.locator('#field-password')
  const typeOf = () => field.getAttribute('type')
  const button = page.getByRole('button', { name: 'Show password' })
  await field.fill('correct horse')
  await button.click()
  expect([await typeOf(), await button.getAttribute('aria-pressed')]).toEqual(['text', 'true'])
  await button.click()
  expect(await typeOf()).toBe('password')
  await button.click()
  await page.evaluate(() => addEventListener('submit', (event) => event.preventDefault()))
  await page.click('button:has-text("Create user")')
  expect([await typeOf(), await field.inputValue()]).toEqual(['password', 'correct horse'])
}, 30_000)

test('A confirmation is a dialog that holds the focus and gives it back', async () => {
  const page = await open(ofJob)
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => page.click('dialog button:has-text("Cancel")'),
  ]) {
    await page.click('summary:has-text("Delete job")')
    expect(await page.locator('dialog.dialog[open] h3').textContent()).toStartWith('Delete ')
    await close()
    await page.waitForSelector('dialog.dialog', { state: 'detached' })
    expect(await focused(page)).toContain('Delete job')
  }
})

test('Theme, menus and search work on the page, by keys too, and a whole row is a link', async () => {
  const page = await open('/jobs')
  const asked = page.waitForRequest('**/console/theme')
  await page.click('.theme button:visible')
  expect((await asked).postData()).toContain('theme=light')
  expect(await page.getAttribute('html', 'data-theme')).toBe('light')
  const menu = page.locator('.account .popup')
  for (const close of [() => page.keyboard.press('Escape'), () => page.click('h1')]) {
    await page.click('.account > summary')
    expect(await menu.isVisible()).toBe(true)
    await close()
    expect(await menu.isVisible()).toBe(false)
  }
  // The link covers the cell, which the driver takes for an obstacle.
  await page.click('tr:has-text("Refresh prices") td >> nth=1', { force: true })
  await reads(page, 'Refresh prices')
  await page.goBack()
  await reads(page, 'Jobs')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('webhooks')
  expect(await page.locator('[data-palette-pages] a:visible').count()).toBeGreaterThan(0)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Refresh')
  await page.waitForSelector('#palette-found a:has-text("Refresh prices")')
  expect(await page.locator('[data-palette-pages] a:visible').count()).toBe(0)
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toContain('/jobs/')
  await page.keyboard.press('Enter')
  await reads(page, 'Refresh prices')
})

test('The palette creates, presses buttons of the page, switches tenants, and "?" shows the shortcuts', async () => {
  const as = await app.signIn({ roles })
  await as.actIn(acme.id)
  const page = await open(ofJob, { as })
  const type = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Control+a')
    await page.keyboard.type(words)
  }
  const items = page.locator('.palettelist [data-palette-list] .item:visible')
  await type('pause')
  expect(await items.locator('span').first().allInnerTexts()).toEqual(['Pause job'])
  expect(await items.count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.getByText('Job paused.').waitFor()
  await page.keyboard.press('?')
  expect(await page.locator('#shortcuts h3').isVisible()).toBe(true)
  expect(await findingsOf(page, '#shortcuts')).toEqual([])
  await page.keyboard.press('Escape')
  await type('new endp')
  await page.keyboard.press('Enter')
  await reads(page, 'New endpoint')
  await type('switch to fjord')
  await page.keyboard.press('Enter')
  await reads(page, 'Fjord Bikes')
  // Viewers are offered nothing to create.
  const viewer = await acme.as('viewer')
  await open('/jobs', { as: viewer })
  await type('new')
  expect(await items.count()).toBe(0)
})

test('A filter replaces only the list, changes the address, and shows its progress', async () => {
  const page = await open('/endpoints')
  await page.click('#filter-search')
  await page.keyboard.press('/')
  expect(await page.isVisible('#palette')).toBe(false)
  expect(await page.inputValue('#filter-search')).toBe('/')
  await page.keyboard.press('Backspace')
  await page.evaluate(() => document.body.setAttribute('data-kept', ''))
  const answer = Promise.withResolvers<void>()
  await page.route('**/endpoints?state=paused', async (route) => {
    await answer.promise
    await route.continue()
  })
  await page.click('.chips a:has-text("Paused")')
  await page.waitForSelector('#progress.htmx-request', { state: 'attached' })
  answer.resolve()
  await page.waitForSelector('#progress:not(.htmx-request)', { state: 'attached' })
  await page.waitForURL('**/endpoints?state=paused')
  expect(await page.getAttribute('body', 'data-kept')).toBe('')
  expect(await focused(page)).toContain('Paused')
  await page.unrouteAll()
})

test('The summary of errors is focused and leads to the fields; a new line of code keeps the indentation', async () => {
  const page = await open('/jobs/new')
  await page.click('button:has-text("Create job")')
  await page.waitForSelector('.errorsummary')
  expect(await focused(page)).toContain('Fix ')
  await page.click('.errorsummary a:has-text("URL")')
  expect(await focused(page)).toContain('id="field-url"')
  await open('/messages/new')
  await page.fill('textarea[data-code]', '')
  await page.keyboard.type('{\n  "a": 1,\n"b": 2')
  expect(await page.inputValue('textarea[data-code]')).toBe('{\n  "a": 1,\n  "b": 2')
})

test('While policies are edited, errors appear on their lines, and what would change; a user is found while typing', async () => {
  await acme.gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'countess@example.com' },
  })
  const page = await open('/policies')
  const policies = page.locator('#field-policies')
  const saved = await policies.inputValue()
  await policies.fill(`permit (principal, action, resource);\npermit (principal, action, resourc);`)
  await page.locator('.editor li:nth-child(2).wrongline').getByText('resourc').waitFor()
  await policies.fill(`${saved}// new`)
  await page.locator('#review ins:has-text("// new")').waitFor()
  expect(await page.locator('.wrongline').count()).toBe(0)
  expect(await policies.inputValue()).toEndWith('// new')
  await page.fill('#field-action', 'keys.read')
  await page.fill('#field-resource', `tenant:${acme.id}`)
  await page.fill('#field-subject', 'ntess')
  await page.click('#people button')
  await page.waitForURL('**/policies?*action=keys.read*')
  await page.getByText('Allowed: permitted by').waitFor()
})

test('A page stays in its tenant when another tab switches to another one', async () => {
  const as = await app.signIn({ roles })
  await as.actIn(acme.id)
  await other.api.post('/v1/clockwork/jobs', { ...JOB, name: 'of-the-other' })
  const page = await open('/jobs/new', { as })
  const field = (label: string) => page.getByLabel(new RegExp(`^${label}`)).first()
  await as.actIn(other.id)
  await field('Name').fill('typed-in-acme')
  await field('Repeat').selectOption('daily')
  await field('Time').fill('04:00')
  await page.locator('#preview').getByText('Runs at 04:00 UTC every day').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Search' }).click()
  await page.locator('#palette-query').fill('of-the-other')
  await page.getByText('Jobs: of-the-other').waitFor()
  await page.keyboard.press('Escape')
  await field('URL').fill(JOB.url)
  await page.getByRole('button', { name: 'Create job' }).click()
  await reads(page, 'typed-in-acme')
  expect((await other.api.get('/v1/clockwork/jobs')).body).toMatchObject([{ name: 'of-the-other' }])
}, 60_000)

test('A link replaces the page without loading it again, with title, focus and the way back', async () => {
  const page = await open('/jobs')
  await page.evaluate(() => Object.assign(window, { isSame: true }))
  const isSame = () => page.evaluate(() => 'isSame' in window)
  await page.setViewportSize({ width: 1280, height: 200 })
  await page.evaluate(() => scrollTo({ top: 40, behavior: 'instant' }))
  await page.click('.sidebar a:has-text("Deliveries")')
  await reads(page, 'Deliveries')
  await page.waitForFunction(() => scrollY === 0)
  await page.waitForFunction(() => document.activeElement?.id === 'content')
  expect([await page.title(), await isSame()]).toEqual([
    expect.stringMatching(/^Deliveries · /),
    true,
  ])
  // The transition to a page ends after the next page is there.
  await page.evaluate(() => {
    const slowly = '::view-transition-new(root) { animation-duration: 1s !important }'
    document.styleSheets[0]?.insertRule(slowly)
  })
  await page.click('.environment a:has-text("Test")')
  await page.waitForSelector('body.testdata')
  await page.goBack()
  await page.waitForSelector('body:not(.testdata)')
  await page.goBack()
  await reads(page, 'Jobs')
  await page.waitForFunction(() => scrollY === 40)
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)))
  expect(await page.evaluate(() => [scrollY, document.title])).toEqual([
    40,
    expect.stringMatching(/^Jobs · /),
  ])
  expect([page.url(), await isSame()]).toEqual([`${app.url}/console/${acme.id}/jobs`, true])
  // The hosted sign-in and the reference are documents of their own.
  await page.click('.account > summary')
  await page.click('a:has-text("API reference")')
  await page.waitForURL('**/reference')
  expect(await isSame()).toBe(false)
  expect(reports).toEqual([])
})

test('The way back from a page leads to the form that was refused before it, at its own address', async () => {
  const page = await open('/bots')
  await page.getByLabel('Token', { exact: true }).fill('no token')
  await page.click('button:has-text("Check and save token")')
  await page.waitForSelector('.errorsummary')
  const own = `${app.url}/console/${acme.id}/live/bots`
  expect(page.url()).toBe(own)
  await page.click('.sidebar a:has-text("Audit log")')
  await reads(page, 'Audit log')
  await page.goBack()
  await reads(page, 'Live bot')
  expect(page.url()).toBe(own)
})

test('A link to a page of a session that has ended leads to the sign-in', async () => {
  const as = await app.signIn({ roles })
  const page = await open('/jobs', { as })
  await as.end()
  await page.click('.sidebar a:has-text("Audit log")')
  const back = encodeURIComponent(`/console/${acme.id}/audit`)
  await page.waitForURL(`${app.url}/console/login?to=${back}`)
})

test.each([true, false])(
  'A test sign-in leaves for the provider and comes back with its result (scripts: %p)',
  async (javaScript) => {
    await using providers = startProviders({ clock: app.clock })
    providers.allowRedirect(app.gate.callbackUrl('google'))
    const { clientId = '', clientSecret = '', baseUrl = '' } = providers.providerConfig('google')
    const as = await app.newAdmin()
    // Another site than the console, so that the browser decides which cookies come back.
    const authorizeUrl = `${baseUrl.replace('127.0.0.1', 'localhost')}/o/oauth2/v2/auth`
    const client = { client_id: clientId, client_secret: clientSecret, base_url: baseUrl }
    await as.send('/installation/providers/google', { ...client, authorize_url: authorizeUrl })
    const page = await open('/installation/providers/google', { as, javaScript })
    const account = newAccount({ isVerified: false })
    providers.signInAs(account)
    await page.click('button:has-text("Sign in to test")')
    await page.waitForURL(`${authorizeUrl}?*`)
    await page.goto(`${app.url}/console/installation/providers/google`)
    await page.getByText('Sign-in not finished').waitFor()
    await page.click('button:has-text("Sign in to test")')
    await page.waitForURL(`${authorizeUrl}?*`)
    await page.click('button:has-text("Continue")')
    await reads(page, 'Google')
    expect(page.url()).toBe(`${app.url}/console/installation/providers/google`)
    await page.getByText(account.email ?? '').waitFor()
    for (const look of LOOKS) {
      await turnTo(page, look)
      if (javaScript) expect(await findingsOf(page)).toEqual([])
      expect(await scrollsSideways(page)).toBe(false)
      await screenshot(page, `test-sign-in-${look.name}`)
    }
  },
)

/** Waits until this many pages are kept up to date. */
async function streams(count: number) {
  while (app.live.count() !== count) await Bun.sleep(5)
}

/** A page of a tenant that sends events. */
async function watch(path: string) {
  const tenant = await app.newTenant()
  await tenant.endpoint()
  const send = async (event_type: string) => {
    await tenant.message({ event_type })
    await app.clock.advance(1000)
  }
  await send('order.old')
  const page = await open(path, { as: tenant.owner })
  await streams(1)
  return { page, send, owner: tenant.owner }
}

const hide = (page: Page, isHidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)

test.each(['', '/deliveries'])(
  'The page "%s" shows new events, also those while it was hidden',
  async (path) => {
    const { page, send } = await watch(path)
    const main = page.locator('main')
    await send('order.new')
    const found = main.getByText('order.new', { exact: true })
    await found.waitFor()
    expect(await found.count()).toBe(1)
    expect(await main.textContent()).toMatch(/order\.new.*order\.old/s)
    await hide(page, true)
    await streams(0)
    await send('order.unseen')
    await hide(page, false)
    await main.getByText('order.unseen', { exact: true }).waitFor()
    expect(reports).toEqual([])
  },
)

test('A page that updates itself asks for nothing more once its session has ended or it is left', async () => {
  const { page, send, owner } = await watch('')
  await page.getByRole('link', { name: 'Deliveries', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await streams(1)
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await streams(0)
  await page.goto(`${app.url}/console`)
  await streams(1)
  await page.clock.install()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await owner.end()
  await app.clock.advance(1000)
  await streams(0)
  await page.getByText('This page no longer updates').waitFor()
  await send('order.secret')
  // Longer than it waits before it connects again.
  await page.clock.runFor(MINUTE)
  expect(asked).toEqual([])
  expect(await page.locator('main').textContent()).not.toContain('order.secret')
}, 60_000)
