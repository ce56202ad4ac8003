import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { source as axeSource } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

const SCREENSHOTS = join(import.meta.dir, '..', '..', 'dist', 'screenshots')

/** Keeps the browser from looking for its maker's servers, which tests have no business with. */
const QUIET = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser, from the packages of the lock file. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await sparticuz.executablePath()
  return chromium.launch({ executablePath, args: [...sparticuz.args, ...QUIET], headless: true })
}

/**
 * Closes the pages that a test has opened, because each open page slows down all later ones. One stays,
 * because the browser ends with its last page. Waits for pages that are loading: Chromium may never
 * close a page during a navigation.
 */
export async function closePages(browser: Browser) {
  const pages = browser.contexts().flatMap((context) => context.pages())
  const kept = pages.find((page) => page.url() === 'about:blank')
  if (!kept) await openPage(browser, 'about:blank')
  for (const page of pages.filter((page) => page !== kept)) {
    await page.waitForLoadState()
    await page.close()
  }
}

/** The screens and color schemes that pages are made for. */
export const LOOKS = [
  { name: 'wide-light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'wide-dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'narrow-light', width: 360, height: 740, colorScheme: 'light' },
  { name: 'narrow-dark', width: 360, height: 740, colorScheme: 'dark' },
] as const

export type Look = (typeof LOOKS)[number]
export const [WIDE, WIDE_DARK, NARROW, NARROW_DARK] = LOOKS

export async function turnTo(page: Page, { width, height, colorScheme }: Look) {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme })
}

/** Opens a page in one of the looks, without scripts if asked. */
export async function openPage(
  browser: Browser,
  url: string,
  { width, height, colorScheme }: Look = LOOKS[0],
  { javaScript = true } = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    javaScriptEnabled: javaScript,
    bypassCSP: false,
  })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** Into dist/screenshots where somebody is going to look: with TEST_SCREENSHOTS set. */
export async function screenshot(page: Page, name: string) {
  if (!process.env.TEST_SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

/**
 * What axe finds serious or worse, as sentences: on the whole page and by all of its rules, or in
 * the part and by those that are named.
 */
export async function seriousFindings(
  page: Page,
  { within = 'html', rules }: { within?: string; rules?: readonly string[] } = {},
): Promise<string[]> {
  // Half a megabyte: once for each document is enough.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const asked = { within, options: { ...QUICKLY, ...(rules && { runOnly: rules }) } }
  const violations = await page.evaluate(async ({ within, options }) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe puts itself on the window
    const { violations } = await (globalThis as any).axe.run(within, options)
    return violations as { impact: string; help: string; nodes: { html: string }[] }[]
  }, asked)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ help, nodes }) => `${help}: ${nodes[0]?.html}`)
}

/** Says nothing of what is right, and looks at no style sheet on its own: no rule in use needs it. */
const QUICKLY = { resultTypes: ['violations'], preload: false }

/** True when something sticks out and the page scrolls sideways. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

/** The rules whose result depends on width or color scheme. */
const RULES_OF_A_LOOK = [
  'color-contrast',
  'link-name',
  'button-name',
  'label',
  'scrollable-region-focusable',
]

/**
 * Checks a loaded page: nothing sticks out in narrow, and axe finds nothing serious in wide and light,
 * nor by the rules that differ in narrow and dark. For axe, long lists keep their first rows.
 */
export async function expectGoodPage(page: Page, name: string) {
  await turnTo(page, NARROW_DARK)
  expect([name, await scrollsSideways(page)]).toEqual([name, false])
  await screenshot(page, `${name}-narrow-dark`)
  await page.evaluate(() => {
    const rows = ':is(tbody > tr, ul > li, ol > li, article, g > *):nth-of-type(n + 5)'
    for (const row of document.querySelectorAll(`main ${rows}`)) row.remove()
  })
  expect([name, await seriousFindings(page, { rules: RULES_OF_A_LOOK })]).toEqual([name, []])
  await turnTo(page, WIDE)
  expect([name, await seriousFindings(page)]).toEqual([name, []])
  await screenshot(page, `${name}-wide-light`)
}
