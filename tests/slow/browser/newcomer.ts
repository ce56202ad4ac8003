import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { compileBinary, startServer, until } from '../../support/binary.ts'
import {
  type Look,
  launchBrowser,
  screenshot,
  scrollsSideways,
  seriousFindings,
  WIDE,
} from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startProviders } from '../../support/social/index.ts'
import { startTarget } from '../../support/target.ts'

export type Newcomer = Awaited<ReturnType<typeof newNewcomer>>

/** How long a page may take on a busy machine. */
const PATIENCE_MS = 20_000

/** How long to wait before the page is reloaded. */
const BEFORE_RELOAD_MS = 1_500

/** A new server that nobody has set up, with a target to call and an account at Google. */
export async function startInstallation() {
  await using ends = new AsyncDisposableStack()
  await compileBinary()
  const { path: folder } = ends.use(temporaryFolder())
  const provider = ends.use(await startProviders())
  const target = ends.use(startTarget(() => new Response('thanks')))
  const { clientId, clientSecret, baseUrl } = provider.providerConfig('google')
  await Bun.write(
    join(folder, 'gatehouse.toml'),
    [
      '[outbound]',
      'allow = ["127.0.0.1"]',
      '[gate.providers.google]',
      `client_id = ${JSON.stringify(clientId)}`,
      `client_secret = ${JSON.stringify(clientSecret)}`,
      `base_url = ${JSON.stringify(baseUrl)}`,
    ].join('\n'),
  )
  const server = ends.use(await startServer({ cwd: folder }))
  const setUpUrl = () => /http:\S+\/setup\/\w+/.exec(server.err())?.[0]
  await until(() => setUpUrl() !== undefined, server.err)
  const running = ends.move()
  return {
    url: server.url,
    folder,
    setUpUrl: setUpUrl() as string,
    target,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * A person at a browser of their own: as one process, it sends the cookies of its first context with
 * the requests of scripts. Finds everything by its label.
 */
export async function newNewcomer(look: Look = WIDE) {
  const { width, height, colorScheme } = look
  const browser = await launchBrowser()
  const context = await browser.newContext({ viewport: { width, height }, colorScheme })
  context.setDefaultTimeout(PATIENCE_MS)
  /** Errors in the console of the browser: refused by the policy, not found, thrown. */
  const complaints: string[] = []
  /** The visited addresses, without query and fragment. */
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

  /** The person at one of their tabs. */
  function at(page: Page) {
    const main = page.getByRole('main')

    /** Waits for the page with this heading. */
    const reads = (heading: string | RegExp) =>
      page.getByRole('heading', { level: 1, name: heading }).waitFor()

    /** Clicks the first of several: an empty page offers its action twice. */
    const clicks = (what: Locator) => what.first().click()

    const presses = (button: string | RegExp, within: Locator | Page = page) =>
      clicks(within.getByRole('button', { name: button, exact: true }))

    const follows = (link: string | RegExp, within: Locator | Page = page) =>
      clicks(within.getByRole('link', { name: link, exact: true }))

    const sidebar = page.getByRole('navigation', { name: 'Console' })
    const menu = page.getByRole('button', { name: 'Menu', exact: true })

    /** Follows a link of the sidebar, which small screens hide behind a button. */
    async function goesTo(entry: string) {
      if (await menu.isVisible()) await clicks(menu)
      await clicks(sidebar.getByRole('link', { name: entry, exact: true }))
      // A hidden sidebar has no role.
      const current = page.locator('nav a[aria-current=page]').filter({ hasText: entry })
      await current.waitFor({ state: 'attached' })
      await page.waitForLoadState()
    }

    /** The labels of the sidebar. */
    const entries = () => sidebar.getByRole('link').allInnerTexts()

    /** Fills in fields by their labels, which may be marked as optional. */
    async function types(values: Record<string, string>) {
      for (const [label, value] of Object.entries(values))
        await page.getByLabel(new RegExp(`^${label}( optional)?$`)).fill(value)
    }

    /** Selects a radio button. */
    const chooses = (option: string) =>
      clicks(page.getByRole('radio', { name: new RegExp(`^${option}\\b`) }))

    /** Waits for a text. */
    const isTold = (text: string | RegExp) => page.getByText(text).first().waitFor()

    /** Waits for a text that a live update or a reload brings. */
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
        await page.reload()
      }
    }

    /** The forms of the page, and its links to forms. */
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

    const copies = async (what: Locator): Promise<string> =>
      (await what.first().textContent()) ?? ''

    /** Follows a link that opens a new tab. */
    async function opensBeside(link: string) {
      const opened = context.waitForEvent('page')
      await follows(link)
      return at(await opened)
    }

    /** Checks a page that is shown only once. */
    async function examines(name: string) {
      await page.waitForLoadState()
      expect([name, await scrollsSideways(page)]).toEqual([name, false])
      expect([name, await seriousFindings(page)]).toEqual([name, []])
      await screenshot(page, `newcomer-${name}`)
    }

    return {
      page,
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
      examines,
      opens: (url: string) => page.goto(url),
      [Symbol.asyncDispose]: () => browser.close(),
    }
  }
}
