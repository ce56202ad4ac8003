import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import {
  LOOKS,
  type Look,
  launchBrowser,
  screenshot,
  scrollsSideways,
  seriousFindings,
} from '../browser.ts'
import { createPace, type Pace } from './pace.ts'

export type Newcomer = Awaited<ReturnType<typeof newNewcomer>>

/** The longest wait for a page, on a busy machine. */
const PATIENCE_MS = 20_000

/** People reload a page that does not show what they wait for after this time. */
const BEFORE_RELOAD_MS = 1_500

interface Person {
  look?: Look
  /** Shared with another person whose time counts as well. */
  pace?: Pace
}

/**
 * A person who has never seen the console: finds things by name and reads what is new on each page.
 * Has an own browser, because as one process it sends the cookies of its first context for scripts.
 */
export async function newNewcomer({ look = LOOKS[0], pace = createPace() }: Person = {}) {
  const { width, height, colorScheme } = look
  const browser = await launchBrowser()
  const context = await browser.newContext({ viewport: { width, height }, colorScheme })
  context.setDefaultTimeout(PATIENCE_MS)
  /** Errors that the browser reported. */
  const complaints: string[] = []
  /** Visited URLs without query and fragment. */
  const visited: string[] = []
  context.on('page', watch)
  return at(await context.newPage())

  function watch(page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) visited.push(frame.url().replace(/[?#].*$/, ''))
    })
  }

  /** The same person in one of the tabs. */
  function at(page: Page) {
    const main = page.getByRole('main')

    /** Waits for the page with a heading and reads it. */
    async function reads(heading: string | RegExp) {
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      pace.reads((await main.allInnerTexts()).join('\n'))
    }

    /** Clicks the first match: an empty page offers its action twice. */
    async function clicks(what: Locator) {
      pace.clicks()
      await what.first().click()
    }

    const presses = (button: string | RegExp, within: Locator | Page = page) =>
      clicks(within.getByRole('button', { name: button, exact: true }))

    const follows = (link: string | RegExp, within: Locator | Page = page) =>
      clicks(within.getByRole('link', { name: link, exact: true }))

    const sidebar = page.getByRole('navigation', { name: 'Console' })
    const menu = page.getByRole('button', { name: 'Menu', exact: true })

    /** Uses the sidebar, which is behind a button on small screens. */
    async function goesTo(entry: string) {
      if (await menu.isVisible()) await clicks(menu)
      await clicks(sidebar.getByRole('link', { name: entry, exact: true }))
      // The sidebar has no role while it is behind its button.
      const current = page.locator('nav a[aria-current=page]').filter({ hasText: entry })
      await current.waitFor({ state: 'attached' })
      await page.waitForLoadState()
      pace.reads((await main.allInnerTexts()).join('\n'))
    }

    /** The names of the links in the sidebar. */
    const entries = () => sidebar.getByRole('link').allInnerTexts()

    /** Fills in fields by their labels, which may end in "optional". */
    async function types(values: Record<string, string>) {
      for (const [label, value] of Object.entries(values)) {
        pace.types(value)
        await field(label).fill(value)
      }
    }

    const field = (label: string): Locator => page.getByLabel(new RegExp(`^${label}( optional)?$`))

    /** Selects a radio button by its label. */
    const chooses = (option: string) =>
      clicks(page.getByRole('radio', { name: new RegExp(`^${option}\\b`) }))

    /** Waits for a text on the page. */
    const isTold = (text: string | RegExp) => page.getByText(text).first().waitFor()

    /** Waits for a text that comes later: the page updates itself or is reloaded. */
    async function isToldInTheEnd(text: string | RegExp) {
      const said = page.getByText(text).first()
      const isThere = () =>
        said.waitFor({ timeout: BEFORE_RELOAD_MS }).then(
          () => true,
          () => false,
        )
      const end = performance.now() + PATIENCE_MS
      while (!(await isThere())) {
        if (performance.now() > end) throw new Error(`${page.url()} does not say ${text}`)
        pace.clicks()
        await page.reload()
      }
    }

    /** Actions of the forms on the page, and links to forms. */
    const offers = async () => [
      ...(await main
        .locator('form[method=post]')
        .evaluateAll((forms) => forms.map((form) => form.getAttribute('action')))),
      ...(await main
        .locator('a:is([href$="/new"], [href$="/edit"], [href$="/invite"])')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')))),
    ]

    /** Confirms that a secret is saved, and continues. */
    async function keepsTheSecret() {
      await clicks(page.getByRole('checkbox', { name: /^I've saved the/ }))
      await presses('Continue')
    }

    /** Copies a text of the page. */
    async function copies(what: Locator): Promise<string> {
      pace.pastes()
      return (await what.first().textContent()) ?? ''
    }

    /** Follows a link that opens a new tab. */
    async function opensBeside(link: string) {
      const opened = context.waitForEvent('page')
      await follows(link)
      return at(await opened)
    }

    /** Checks the width of the page and takes a screenshot. */
    async function looks(name: string) {
      await page.waitForLoadState()
      expect([name, await scrollsSideways(page)]).toEqual([name, false])
      const tall = await page.evaluate(() => document.documentElement.scrollHeight)
      const { width, height } = page.viewportSize() ?? look
      if (tall > height) await page.setViewportSize({ width, height: tall })
      await screenshot(page, `newcomer-${name}`)
      if (tall > height) await page.setViewportSize({ width, height })
    }

    /** Also checks the accessibility of the page. */
    async function examines(name: string) {
      await looks(name)
      expect([name, await seriousFindings(page)]).toEqual([name, []])
    }

    return {
      page,
      pace,
      complaints,
      visited,
      reads,
      presses,
      follows,
      goesTo,
      entries,
      offers,
      types,
      chooses,
      isTold,
      isToldInTheEnd,
      copies,
      opensBeside,
      keepsTheSecret,
      looks,
      examines,
      /** Opens a link from outside the console. */
      opens: (url: string) => page.goto(url),
      /** Switches to another screen. */
      changesTo: async (next: Look) => {
        await page.setViewportSize({ width: next.width, height: next.height })
        await page.emulateMedia({ colorScheme: next.colorScheme })
      },
      [Symbol.asyncDispose]: () => browser.close(),
    }
  }
}
