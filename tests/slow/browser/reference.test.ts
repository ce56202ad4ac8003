import { afterAll, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import { useApp } from '../../support/app.ts'
import { expectGoodPages, launchBrowser, openPage, WIDE } from '../../support/browser.ts'

const app = await useApp()
const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
const browser = await launchBrowser()

afterAll(async () => {
  await browser.close()
  await listener.stop()
})

test('The reference is accessible, fits narrow screens, and loads only its own files', async () => {
  const page = await openPage(browser, 'about:blank')
  const complaints: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(listener.url)) foreign.push(request.url())
  })
  const response = await page.goto(`${listener.url}/reference`)
  expect(await page.textContent('h1')).toBe('API reference')
  await expectGoodPages(page, [{ name: 'reference', html: (await response?.text()) ?? '' }])
  expect([complaints, foreign]).toEqual([[], []])
}, 60_000)

test('The contents lead to each operation with its fields, responses and curl command, without scripts', async () => {
  const page = await openPage(browser, `${listener.url}/reference`, WIDE, { javaScript: false })
  const article = page.locator('article:target')
  await page.click('nav a:has-text("Create a cron job")')
  expect(await article.locator('h3').textContent()).toBe('Create a cron job')
  await article.locator('summary:has-text("201")').click()
  expect(await article.locator('dt:has-text("next_run_at")').isVisible()).toBe(true)
  await page.click('nav a:has-text("Create an identity")')
  const row = article.locator('tr', { has: page.locator('th code:text-is("traits.email")') })
  expect(await row.locator('td').last().textContent()).toBe('required')
  await article.locator('summary:has-text("curl")').click()
  const curl = (await article.locator('pre').textContent()) ?? ''
  expect(curl).toContain('-H "Authorization: Bearer $GATEHOUSE_KEY"')
  expect(curl).toContain(`-d '{"schema_id":"user","traits":{"email":"ada@example.com"}}'`)
  await page.click('nav a:has-text("Enable or disable social login providers")')
  expect(await article.locator('code:text-is("providers[].enabled")').count()).toBe(1)
}, 30_000)
