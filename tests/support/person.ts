import { expect } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { findingsOf, type Look, screenshot, scrollsSideways, WIDE } from './browser.ts'
import type { RelyingApp } from './relying-app.ts'

export interface Eyes {
  look?: Look
  language?: 'en-GB' | 'de-DE'
}

export type Person = Awaited<ReturnType<typeof newPerson>>

/** A password that every form accepts. */
export const PASSWORD = 'correct horse battery'

/** The longest wait for a page, on a busy machine. */
const PATIENCE_MS = 20_000

/**
 * A user of an app with an own browser: reads, types and presses buttons. Waits for what a page
 * shows, never for a time. Ends with the scope: `await using ada = await newPerson(…)`.
 */
export async function newPerson(browser: Browser, app: RelyingApp, eyes: Eyes = {}) {
  const { look = WIDE, language = 'en-GB' } = eyes
  const { width, height, colorScheme } = look
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: language,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return at(await context.newPage())

  /** The same person in one of the tabs. */
  function at(page: Page) {
    const field = (label: string, within: Locator | Page = page) =>
      within.getByLabel(label, { exact: true })

    async function types(values: Record<string, string>, within?: Locator) {
      for (const [label, value] of Object.entries(values)) await field(label, within).fill(value)
    }

    /** The description of a field, as a screen reader reads it. */
    const remarkOn = (label: string): Promise<string> =>
      field(label).evaluate((input) => {
        const id = input.getAttribute('aria-describedby')
        return (id && document.getElementById(id)?.textContent) || ''
      })

    const presses = (button: string, within: Locator | Page = page) =>
      within.getByRole('button', { name: button, exact: true }).click()

    const follows = (link: string) => page.getByRole('link', { name: link, exact: true }).click()

    const reads = (heading: string) =>
      page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()

    const isTold = (text: string) => page.getByText(text).first().waitFor()

    const section = (name: string) => page.getByRole('region', { name, exact: true })

    const opensApp = () => page.goto(app.url)

    const starts = (kind: string) => page.goto(`${app.url}/start/${kind}`)

    async function isSignedInAs(email: string) {
      await page.waitForURL(`${app.url}/`)
      await isTold(`Signed in as ${email}`)
    }

    async function signsIn(email: string, password = PASSWORD) {
      await starts('login')
      await types({ 'Email address': email, Password: password })
      await presses('Sign in with password')
    }

    async function signsOut() {
      await opensApp()
      await presses('Sign out')
      await isTold('Nobody is signed in.')
    }

    const shownKey = async (): Promise<string> =>
      ((await page.locator('.key').textContent()) ?? '').replaceAll(/\s/g, '')

    async function opensSettings() {
      await starts('settings')
      await reads('Your Paper shop account')
    }

    /** The authenticator key that settings show. */
    async function token(): Promise<string> {
      const cookies = await context.cookies(app.url)
      return cookies.find(({ name }) => name === app.cookie)?.value ?? ''
    }

    return {
      ...{ page, field, types, remarkOn, presses, follows, reads, isTold, section, opensApp },
      ...{ starts, isSignedInAs, signsIn, signsOut, opensSettings, shownKey, token },
      /** The text of the page without its navigation. */
      reading: async (): Promise<string> => (await page.locator('main').textContent()) ?? '',
      /** Checks accessibility and width of the page, and takes a screenshot. */
      looks: (name: string) => looks(page, name),
      newTab: async () => at(await context.newPage()),
      /** The context stays open: closing one ends the browser, which is a single process. */
      [Symbol.asyncDispose]: async () => {
        for (const open of context.pages()) await open.close()
      },
    }
  }

  async function looks(page: Page, name: string) {
    await page.waitForLoadState()
    expect([name, await scrollsSideways(page)]).toEqual([name, false])
    expect([name, await findingsOf(page)]).toEqual([name, []])
    const tall = await page.evaluate(() => document.documentElement.scrollHeight)
    if (tall > height) await page.setViewportSize({ width, height: tall })
    await screenshot(page, `walk-${name}`)
    if (tall > height) await page.setViewportSize({ width, height })
  }
}
