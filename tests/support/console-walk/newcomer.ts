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

/** The longest that a page may take to show what is waited for, on a machine with much to do. */
const PATIENCE_MS = 20_000

/** After so long without what they wait for, people load the page again. */
const BEFORE_RELOAD_MS = 1_500

interface Person {
  look?: Look
  /** Of another, whose time it is as well. */
  pace?: Pace
}

/**
 * Somebody who has never seen the console, and has a browser to themselves: as one process, it sends
 * along the cookies of its first context with whatever scripts ask for. Finds things by what they are
 * called, reads what is new on each page that they come to, and takes the time that this takes.
 */
export async function newNewcomer({ look = LOOKS[0], pace = createPace() }: Person = {}) {
  const { width, height, colorScheme } = look
  const browser = await launchBrowser()
  const context = await browser.newContext({ viewport: { width, height }, colorScheme })
  context.setDefaultTimeout(PATIENCE_MS)
  /** What the browser had to object to: refused by the policy, not found, thrown. */
  const complaints: string[] = []
  /** Where they have been, without what is behind the path. */
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

  /** The same person at one of their tabs. */
  function at(page: Page) {
    const main = page.getByRole('main')

    /** The page of this heading has come, and is read. */
    async function reads(heading: string | RegExp) {
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      pace.reads((await main.allInnerTexts()).join('\n'))
    }

    /** The first of those that are called alike: a page that is empty offers its action twice. */
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

    /** By the sidebar, which is there on every page, on small screens behind a button. */
    async function goesTo(entry: string) {
      if (await menu.isVisible()) await clicks(menu)
      await clicks(sidebar.getByRole('link', { name: entry, exact: true }))
      // Behind its button the sidebar is there, and has no role.
      const current = page.locator('nav a[aria-current=page]').filter({ hasText: entry })
      await current.waitFor({ state: 'attached' })
      await page.waitForLoadState()
      pace.reads((await main.allInnerTexts()).join('\n'))
    }

    /** What the sidebar leads to, as it is called there. */
    const entries = () => sidebar.getByRole('link').allInnerTexts()

    /** Into the fields of these labels, which may say that they are optional. */
    async function types(values: Record<string, string>) {
      for (const [label, value] of Object.entries(values)) {
        pace.types(value)
        await field(label).fill(value)
      }
    }

    const field = (label: string): Locator => page.getByLabel(new RegExp(`^${label}( optional)?$`))

    /** One of several, by the words that stand beside it. */
    const chooses = (option: string) =>
      clicks(page.getByRole('radio', { name: new RegExp(`^${option}\\b`) }))

    /** Waits until the page says so. */
    const isTold = (text: string | RegExp) => page.getByText(text).first().waitFor()

    /** The same of what happens elsewhere: the page follows by itself, or is loaded again. */
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

    /** Where the page lets them change something, or go to a form that does. */
    const offers = async () => [
      ...(await main
        .locator('form[method=post]')
        .evaluateAll((forms) => forms.map((form) => form.getAttribute('action')))),
      ...(await main
        .locator('a:is([href$="/new"], [href$="/edit"], [href$="/invite"])')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')))),
    ]

    /** Says that what is shown once is kept, and goes on. */
    async function keepsTheSecret() {
      await clicks(page.getByRole('checkbox', { name: /^I've saved the/ }))
      await presses('Continue')
    }

    /** To be used elsewhere. */
    async function copies(what: Locator): Promise<string> {
      pace.pastes()
      return (await what.first().textContent()) ?? ''
    }

    /** Follows a link that opens beside the page. */
    async function opensBeside(link: string) {
      const opened = context.waitForEvent('page')
      await follows(link)
      return at(await opened)
    }

    /** Keeps a picture of the page, on which nothing sticks out. */
    async function looks(name: string) {
      await page.waitForLoadState()
      expect([name, await scrollsSideways(page)]).toEqual([name, false])
      const tall = await page.evaluate(() => document.documentElement.scrollHeight)
      const { width, height } = page.viewportSize() ?? look
      if (tall > height) await page.setViewportSize({ width, height: tall })
      await screenshot(page, `newcomer-${name}`)
      if (tall > height) await page.setViewportSize({ width, height })
    }

    /** The same of a page that comes only once: it is good for everybody as well. */
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
      /** By a link that somebody has sent, or the log has. */
      opens: (url: string) => page.goto(url),
      /** Looks at the same pages on another screen from now on. */
      changesTo: async (next: Look) => {
        await page.setViewportSize({ width: next.width, height: next.height })
        await page.emulateMedia({ colorScheme: next.colorScheme })
      },
      [Symbol.asyncDispose]: () => browser.close(),
    }
  }
}
