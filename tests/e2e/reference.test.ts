import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { serve } from '../../src/http/serve.ts'
import { bootTestApp } from '../support/app.ts'
import {
  closePages,
  LOOKS,
  launchBrowser,
  openPage,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../support/browser.ts'

let browser: Browser
let app: Awaited<ReturnType<typeof bootTestApp>>
let listener: ReturnType<typeof serve>

beforeAll(async () => {
  browser = await launchBrowser()
  app = await bootTestApp()
  listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
}, 60_000)

afterEach(() => closePages(browser))

afterAll(async () => {
  await browser.close()
  await listener.stop()
  await app.stop()
})

test.each(LOOKS)(
  'the reference holds in $name: nothing sticks out, nothing serious for axe',
  async (look) => {
    const page = await openPage(browser, `${listener.url}/reference`, look)

    expect(await page.textContent('h1')).toBe('API reference')
    expect(await scrollsSideways(page)).toBe(false)
    expect(await seriousFindings(page)).toEqual([])
    await screenshot(page, `reference-${look.name}`)
  },
  30_000,
)

test('the contents lead to each operation, and its answers and curl unfold, without scripts', async () => {
  const page = await openPage(browser, `${listener.url}/reference`, LOOKS[0], { javaScript: false })

  await page.click('nav a:has-text("Create a cron job")')
  const article = page.locator('article:target')
  expect(await article.locator('h3').textContent()).toBe('Create a cron job')
  await article.locator('summary:has-text("201")').click()
  expect(await article.locator('dt:has-text("next_run_at")').isVisible()).toBe(true)
  await article.locator('summary:has-text("curl")').click()
  expect(await article.locator('pre').textContent()).toContain(
    '-H "Authorization: Bearer $GATEHOUSE_KEY"',
  )
}, 30_000)

test('what is inside an object is shown too, and the curl has what is required of it', async () => {
  const page = await openPage(browser, `${listener.url}/reference`, LOOKS[0], { javaScript: false })

  await page.click('nav a:has-text("Create an identity")')
  const article = page.locator('article:target')
  const row = article.locator('tr', { has: page.locator('th code:text-is("traits.email")') })
  expect(await row.locator('td').last().textContent()).toBe('required')
  await article.locator('summary:has-text("curl")').click()
  expect(await article.locator('pre').textContent()).toContain(
    `-d '{"schema_id":"user","traits":{"email":"ada@example.com"}}'`,
  )

  await page.click('nav a:has-text("Enable or disable social login providers")')
  expect(await page.locator('article:target code:text-is("providers[].enabled")').count()).toBe(1)
}, 30_000)

test('nothing is blocked by the content policy and nothing is fetched from elsewhere', async () => {
  const page = await openPage(browser, 'about:blank')
  const complaints: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(listener.url)) foreign.push(request.url())
  })

  await page.goto(`${listener.url}/reference`)

  expect(complaints).toEqual([])
  expect(foreign).toEqual([])
}, 30_000)
