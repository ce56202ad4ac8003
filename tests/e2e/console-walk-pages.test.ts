import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { navigationOf, PAGES, type PageKey } from '../../views/console/layout/navigation.ts'
import {
  LOOKS,
  type Look,
  launchBrowser,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../support/browser.ts'
import { type Demo, startDemo } from '../support/demo/index.ts'

/** Every page that the sidebar leads to, with data behind it, as its owner sees it. */

const [WIDE, , , NARROW_DARK] = LOOKS

/** Those that may hold in one look and not in another; all else is the same page. */
const RULES_OF_THE_LOOK = [
  'color-contrast',
  'link-name',
  'button-name',
  'label',
  'scrollable-region-focusable',
]

const pagesIn = (place: 'tenant' | 'installation'): PageKey[] =>
  navigationOf(place).flatMap(({ pages }) => [...pages])

let demo: Demo
let browser: Browser
let context: BrowserContext
let page: Page
/** What the browser had to object to: refused by the policy, not found, thrown. */
const complaints: string[] = []

beforeAll(async () => {
  demo = await startDemo({ hours: 2, hasWeekBefore: false })
  browser = await launchBrowser()
  context = await browser.newContext()
  const { url, session } = demo
  await context.addCookies([
    { name: 'identity_session', value: session.token, url, sameSite: 'Lax' },
  ])
  page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await demo?.[Symbol.asyncDispose]()
})

/** Once loaded, in both widths and both colour schemes: the style sheet alone tells them apart. */
async function expectGood(name: string, path: string) {
  complaints.length = 0
  await turnTo(WIDE)
  const answer = await page.goto(demo.url + path)
  const headings = await page.locator('h1').allInnerTexts()
  expect([answer?.status(), headings]).toEqual([200, [expect.any(String)]])
  expect(await page.title()).toContain(' · ')
  for (const look of [WIDE, NARROW_DARK]) {
    await turnTo(look)
    expect([look.name, await scrollsSideways(page)]).toEqual([look.name, false])
    const rules = look === WIDE ? {} : { rules: RULES_OF_THE_LOOK }
    expect([look.name, await seriousFindings(page, rules)]).toEqual([look.name, []])
    await screenshot(page, `console-${name}-${look.name}`)
  }
  expect(complaints).toEqual([])
}

async function turnTo({ width, height, colorScheme }: Look) {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme })
}

describe('is good for everybody, wide and narrow, light and dark:', () => {
  test.each(pagesIn('tenant'))('%s', (key) => expectGood(key, PAGES[key].path))

  test.each([
    ['job', () => `/console/jobs/${demo.jobs.feed}`],
    ['endpoint', () => `/console/endpoints/${demo.endpoints.crm}`],
    ['delivery', () => `/console/deliveries/${demo.failedDelivery()}`],
    ['identity', () => `/console/identities/${demo.people[3]}`],
    ['account', () => '/console/account'],
  ])('%s', (name, path) => expectGood(name, path()))

  test.each(pagesIn('installation'))('%s', async (key) => {
    await demo.session.actIn(null)
    await expectGood(key, PAGES[key].path)
  })
})
