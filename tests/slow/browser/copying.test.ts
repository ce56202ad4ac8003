import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { useConsole } from '../../console/fixture.ts'
import { findingsOf, launchBrowser } from '../../support/browser.ts'

const app = await useConsole()
const acme = await app.newTenant()
const owner = await acme.as('owner')
await owner.actIn(acme.id)
const { port } = new URL(app.url)

/** Plain http at a name other than localhost, where browsers have no clipboard API. */
const PLAIN = `http://gatehouse.example:${port}`
const browser = await launchBrowser(['--host-resolver-rules=MAP gatehouse.example 127.0.0.1'])
afterAll(() => browser.close())

/** The page of a tenant, which has its ID, shortened, with a button that copies all of it. */
async function openSettings(): Promise<Page> {
  const context = await browser.newContext()
  await context.addCookies([{ name: 'identity_session', value: owner.token, url: PLAIN }])
  const page = await context.newPage()
  await page.goto(`${PLAIN}/console/settings`)
  const clipboard = await page.evaluate(() => [isSecureContext, typeof navigator.clipboard])
  expect(clipboard).toEqual([false, 'undefined'])
  return page
}

const COPY = '[title="Copy tenant ID"]'

/** What the clipboard holds, pasted into the search of the page. */
async function pasted(page: Page): Promise<string> {
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Control+v')
  return page.locator('#palette input').inputValue()
}

test('Text is copied on plain http', async () => {
  const page = await openSettings()
  await page.click(COPY)
  await page.waitForSelector('.copy.done')
  expect(await pasted(page)).toBe(acme.id)
}, 60_000)

test('If the browser refuses to copy, the text is selected and the keys are named', async () => {
  const page = await openSettings()
  await page.evaluate(() => {
    document.execCommand = () => false
  })
  await page.click(COPY)
  await page.waitForSelector('dialog[open] h3:has-text("Press Ctrl+C to copy")')
  expect(await page.evaluate(() => `${getSelection()}`)).toBe(acme.id)
  expect(await findingsOf(page, 'dialog[open]')).toEqual([])
  expect(await page.locator('.copy.done').count()).toBe(0)
  await page.keyboard.press('Control+c')
  await page.waitForSelector('dialog[open]', { state: 'detached' })
  expect(await pasted(page)).toBe(acme.id)
}, 60_000)
