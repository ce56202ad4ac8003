import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium, type Page } from 'playwright-core'

/** A third of the size of what the package exports. */
const AXE = await Bun.file(require.resolve('axe-core/axe.min.js')).text()
const SCREENSHOTS = join(import.meta.dir, '..', '..', 'dist', 'screenshots')

/** Keeps the browser from calling its maker's servers. */
const QUIET = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser, from the packages of the lock file. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // Drawing as on a graphics card, in software, takes two thirds of the time of a test.
  sparticuz.setGraphicsMode = false
  const executablePath = await sparticuz.executablePath()
  return chromium.launch({
    executablePath,
    args: [...sparticuz.args, ...QUIET, ...args],
    headless: true,
  })
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

/** Opens a page in one of the looks, without scripts if asked. Drawing motion would take a quarter of the time. */
export async function openPage(
  browser: Browser,
  url: string,
  { width, height, colorScheme }: Look = WIDE,
  { javaScript = true } = {},
): Promise<Page> {
  const viewport = { width, height }
  const context = await browser.newContext({
    ...{ viewport, colorScheme, reducedMotion: 'reduce', javaScriptEnabled: javaScript },
  })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** Saves a picture to dist/screenshots, if `TEST_SCREENSHOTS` is set. */
export async function screenshot(page: Page, name: string) {
  if (!process.env.TEST_SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

/** What axe finds by its rules and best practices, as sentences: on the page or in a part. */
export async function findingsOf(page: Page, within = 'html'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  const violations = await page.evaluate(
    async ({ within, options }) => {
      // biome-ignore lint/suspicious/noExplicitAny: axe puts itself on the window
      const { violations } = await (globalThis as any).axe.run(within, options)
      return violations as { help: string; nodes: { html: string }[] }[]
    },
    { within, options: QUICKLY },
  )
  return violations.flatMap(({ help, nodes }) => nodes.map(({ html }) => `${help}: ${html}`))
}

/** Without what is right, and without reading style sheets, which no rule in use needs. */
const QUICKLY = { resultTypes: ['violations'], preload: false }

export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

/**
 * Checks pages with the style sheet of the one that is open, which they take the place of one by one:
 * in each new document, axe starts slowly. Nothing sticks out in narrow, and axe finds nothing in wide
 * and light, nor in narrow and dark. Long lists keep their first rows.
 */
export async function expectGoodPages(page: Page, pages: { name: string; html: string }[]) {
  const wrong: [string, unknown][] = []
  for (const look of [NARROW_DARK, WIDE]) {
    await turnTo(page, look)
    for (const { name, html } of pages) {
      await page.evaluate(show, html)
      if (look === NARROW_DARK && (await scrollsSideways(page)))
        wrong.push([name, 'scrolls sideways'])
      await screenshot(page, `${name}-${look.name}`)
      await page.evaluate(shorten)
      const findings = [...(await findingsOf(page)), ...(await page.evaluate(oddTimes))]
      if (findings.length > 0) wrong.push([name, findings])
    }
  }
  expect(wrong).toEqual([])
}

/** Puts another page into the document, without its scripts. */
function show(html: string) {
  const { title, body, documentElement } = new DOMParser().parseFromString(html, 'text/html')
  document.title = title
  for (const { name, value } of documentElement.attributes)
    document.documentElement.setAttribute(name, value)
  document.body.replaceWith(body)
}

/** Times in another form than `2026-11-22 14:05 UTC` or `5 min ago`, except in data and code. */
function oddTimes(): string[] {
  const odd = [
    /\d{4}-\d\d-\d\dT\d/,
    /\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?(?!(:\d\d)? (UTC|GMT)|\d|:)/,
    /\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b/,
    /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}\b/,
    /\b\d+ (d|h|min) 0 (h|min|s)\b/,
  ]
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: string[] = []
  while (texts.nextNode()) {
    const { parentElement, textContent } = texts.currentNode
    if (parentElement?.closest('code, pre, textarea, script, style, .stage')) continue
    const text = textContent ?? ''
    if (odd.some((form) => form.test(text))) found.push(`odd time: ${text.trim()}`)
  }
  return found
}

function shorten() {
  const rows = ':is(tbody > tr, ul > li, ol > li, .fields > div, article, g > *):nth-of-type(n + 5)'
  for (const row of document.querySelectorAll(`main ${rows}`)) row.remove()
}
