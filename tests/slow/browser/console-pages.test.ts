import { afterAll, describe, expect, test } from 'bun:test'
import { navigationOf, PAGES, type PageKey } from '../../../views/console/layout/navigation.ts'
import { expectGoodPage, launchBrowser, openPage } from '../../support/browser.ts'
import { startDemo } from '../../support/demo/index.ts'

/** Every page of the sidebar, with data, as the owner sees it. */

const demo = await startDemo({ hours: 2, hasWeekBefore: false })
const browser = await launchBrowser()
const page = await openPage(browser, 'about:blank')
const complaints: string[] = []
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
page.on('pageerror', (error) => complaints.push(error.message))
await page
  .context()
  .addCookies([
    { name: 'identity_session', value: demo.session.token, url: demo.url, sameSite: 'Lax' },
  ])

afterAll(async () => {
  await browser.close()
  await demo[Symbol.asyncDispose]()
})

const pagesIn = (scope: 'tenant' | 'installation'): [PageKey, string][] =>
  navigationOf(scope).flatMap(({ pages }) => pages.map((key) => [key, PAGES[key].path] as const))

async function expectGood(name: string, path: string) {
  complaints.length = 0
  const response = await page.goto(demo.url + path)
  const headings = await page.locator('h1').allInnerTexts()
  expect([response?.status(), headings]).toEqual([200, [expect.any(String)]])
  expect(await page.title()).toContain(' · ')
  await expectGoodPage(page, `console-${name}`)
  expect(complaints).toEqual([])
}

describe('is accessible in light and dark, and fits narrow screens:', () => {
  test.each([
    ...pagesIn('tenant'),
    ['job', `/console/jobs/${demo.jobs.feed}`],
    ['endpoint', `/console/endpoints/${demo.endpoints.crm}`],
    ['delivery', `/console/deliveries/${demo.failedDelivery()}`],
    ['identity', `/console/identities/${demo.people[3]}`],
    ['account', '/console/account'],
  ])('%s', expectGood)

  test.each(pagesIn('installation'))('%s', async (name, path) => {
    await demo.session.actIn(null)
    await expectGood(name, path)
  })
})
