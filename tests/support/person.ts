import { expect } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { appCode } from './authenticator.ts'
import { LOOKS, type Look, screenshot, scrollsSideways, seriousFindings } from './browser.ts'
import type { RelyingApp } from './relying-app.ts'

/** How somebody looks at pages. */
export interface Eyes {
  look?: Look
  /** Of the browser, as it stands in Accept-Language. */
  language?: 'en-GB' | 'de-DE'
  javaScript?: boolean
}

export type Person = Awaited<ReturnType<typeof newPerson>>

/** Good wherever it is set. */
export const PASSWORD = 'correct horse battery'

/** The longest that a page may take to show what is waited for, on a machine with much to do. */
const PATIENCE_MS = 20_000

/**
 * Somebody with a browser of their own, who uses an app and does what people do: reads, types and
 * presses. Whatever they wait for is on the page that comes next, never a time. Leaves with the
 * scope: `await using ada = await newPerson(…)`.
 */
export async function newPerson(browser: Browser, app: RelyingApp, eyes: Eyes = {}) {
  const { look = LOOKS[0], language = 'en-GB', javaScript = true } = eyes
  const { width, height, colorScheme } = look
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: language,
    javaScriptEnabled: javaScript,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return at(await context.newPage())

  /** The same person at one of their tabs. */
  function at(page: Page) {
    const field = (label: string, within: Locator | Page = page) =>
      within.getByLabel(label, { exact: true })

    /** Into the fields of these labels. */
    async function types(values: Record<string, string>, within?: Locator) {
      for (const [label, value] of Object.entries(values)) await field(label, within).fill(value)
    }

    /** What a screen reader says of a field after its label. */
    const remarkOn = (label: string): Promise<string> =>
      field(label).evaluate((input) => {
        const id = input.getAttribute('aria-describedby')
        return (id && document.getElementById(id)?.textContent) || ''
      })

    const presses = (button: string, within: Locator | Page = page) =>
      within.getByRole('button', { name: button, exact: true }).click()

    const follows = (link: string) => page.getByRole('link', { name: link, exact: true }).click()

    /** Waits until the page is that of this heading. */
    const reads = (heading: string) =>
      page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()

    /** Waits until the page says so. */
    const isTold = (text: string) => page.getByText(text).first().waitFor()

    /** A part of the page that has a heading of its own. */
    const section = (name: string) => page.getByRole('region', { name, exact: true })

    const opensApp = () => page.goto(app.url)

    /** By a link of the app, to a hosted page. */
    const starts = (kind: string) => page.goto(`${app.url}/start/${kind}`)

    /** Waits until the app says who is there. */
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

    async function opensSettings() {
      await starts('settings')
      await reads('Your Paper shop account')
    }

    /** The key that settings show for typing it into an app. */
    const shownKey = async (): Promise<string> =>
      ((await page.locator('.key').textContent()) ?? '').replaceAll(/\s/g, '')

    /** Sets an authenticator up, with the code that it shows now; answers with its secret. */
    async function enrols(): Promise<string> {
      await opensSettings()
      const secret = await shownKey()
      const authenticator = section('Authenticator app')
      await types({ 'Code from your authenticator app': appCode(secret) }, authenticator)
      await presses('Save', authenticator)
      await isTold('Your changes have been saved.')
      return secret
    }

    /** What the app keeps of a sign-in. */
    async function token(): Promise<string> {
      const cookies = await context.cookies(app.url)
      return cookies.find(({ name }) => name === app.cookie)?.value ?? ''
    }

    return {
      page,
      field,
      types,
      remarkOn,
      presses,
      follows,
      reads,
      isTold,
      section,
      opensApp,
      starts,
      isSignedInAs,
      signsIn,
      signsOut,
      opensSettings,
      shownKey,
      enrols,
      token,
      /** All that the page says, apart from what leads to other pages. */
      reading: async (): Promise<string> => (await page.locator('main').textContent()) ?? '',
      /** Checks that the page as it is now can be used by everybody, and keeps a picture of it. */
      looks: (name: string) => looks(page, name),
      newTab: async () => at(await context.newPage()),
      /** The context stays: the browser is one process, which ends with the first that is closed. */
      [Symbol.asyncDispose]: async () => {
        for (const open of context.pages()) await open.close()
      },
    }
  }

  async function looks(page: Page, name: string) {
    await page.waitForLoadState()
    expect([name, await scrollsSideways(page)]).toEqual([name, false])
    // It waits for timers, which there are none of without scripts.
    if (javaScript) expect([name, await seriousFindings(page)]).toEqual([name, []])
    const tall = await page.evaluate(() => document.documentElement.scrollHeight)
    if (tall > height) await page.setViewportSize({ width, height: tall })
    await screenshot(page, `walk-${name}`)
    if (tall > height) await page.setViewportSize({ width, height })
  }
}
