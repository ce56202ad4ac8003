import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { compileBinary, startServer, until } from '../../support/binary.ts'
import {
  expectGoodPages,
  findingsOf,
  type Look,
  launchBrowser,
  NARROW_DARK,
  openPage,
  screenshot,
  scrollsSideways,
  WIDE,
} from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openShell } from '../../support/shell.ts'
import { startTarget } from '../../support/target.ts'

/** How long a page may take on a busy machine, and how long to wait before it is reloaded. */
const [PATIENCE_MS, BEFORE_RELOAD_MS] = [20_000, 1_500]

const CONFIGURATION = `[outbound]
allow = ["127.0.0.1"]
[gate.providers.google]
client_id = "id"
client_secret = "secret"
`

const GOALS = ['Sign in users', 'Schedule jobs', 'Send webhooks', 'Messenger login']

/** The promise to newcomers, for each goal; they read and think for most of it. */
const FIRST_RESULT_MS = 120_000

test.each([
  ['with', true],
  ['without', false],
])(
  'A newcomer sets everything up without documentation, %s scripts, and a viewer can only look',
  async (_, hasScripts) => {
    await using stack = new AsyncDisposableStack()
    await compileBinary()
    const { path: cwd } = stack.use(temporaryFolder())
    const target = stack.use(startTarget(() => new Response('thanks')))
    await Bun.write(join(cwd, 'gatehouse.toml'), CONFIGURATION)
    const server = stack.use(await startServer({ cwd }))
    const setUpUrl = () => /http:\S+\/setup\/\w+/.exec(server.err())?.[0] ?? ''
    await until(() => setUpUrl() !== '', server.err)
    const shell = stack.use(openShell({ cwd, env: {} }))
    /** Runs the command that the page shows under a title. */
    const runs = async (title: string) => {
      const command = ada.page.getByRole('figure').filter({ hasText: title }).locator('code')
      return await shell.run((await command.first().textContent()) ?? '')
    }
    const ada = await newNewcomer(stack, { hasScripts })

    // Sets the installation up.
    await ada.page.goto(setUpUrl())
    await ada.reads('Set up Gatehouse')
    await ada.types({ 'Your name': 'Ada Berg', Email: 'ada@example.com' })
    await ada.types({ Password: 'correct horse battery', Tenant: 'Paper shop' })
    await ada.presses('Create account and tenant')

    // Wants to do everything, and is led from one result to the next.
    await ada.reads('What do you want to do first?')
    await ada.examines('goals')
    for (const goal of GOALS) await ada.chooses(goal)
    await ada.presses('Continue')
    const ways = {
      users: await ada.timed('users', 2, async () => {
        await ada.presses('Open sign-up page')
        await ada.types({ 'Email address': 'test@example.com', Password: 'seven green bicycles' })
        await ada.presses('Create account')
        await ada.isTold('test@example.com')
      }),
      jobs: await ada.timed('jobs', 1, async () => {
        await ada.presses('Create job and run it')
        await ada.isToldInTheEnd('{"hello":"world"}')
      }),
      webhooks: await ada.timed('webhooks', 2, async () => {
        await ada.presses('Create endpoint')
        await ada.presses('Send event')
        await ada.isToldInTheEnd('Signature verified')
      }),
      'messenger-login': await ada.timed('messenger-login', 3, async () => {
        await ada.presses('Start login')
        await ada.approvesInChat('Open chat')
        await ada.isToldInTheEnd(/Ada Lovelace approved it/)
      }),
    }
    console.log(`first results ${hasScripts ? 'with' : 'without'} scripts, in seconds`, ways)

    // Does the same from a terminal, with a key of the guide.
    await ada.presses('Create API key')
    await ada.reads('Approve a test login')
    await ada.examines('guide-key')
    expect(await runs('curl: start a login')).toContain('"deep_link"')
    await ada.keepsTheSecret()
    await ada.goesTo('Overview')
    await ada.isTold('4 of 13')
    await ada.examines('checklist')
    await ada.presses('Dismiss')
    await ada.isTold('Checklist dismissed.')

    // Creates a job and sees it run.
    await ada.goesTo('Jobs')
    await ada.follows('Create job')
    await ada.reads('New job')
    await ada.page.getByLabel('Repeat').selectOption('daily')
    await ada.types({ Name: 'Nightly report', Time: '06:00', URL: target.url })
    if (!hasScripts) await ada.presses('Preview schedule')
    await ada.isTold(/Runs .*06:00/i)
    await ada.examines('new-job')
    await ada.presses('Create job')
    await ada.reads('Nightly report')
    await ada.presses('Run now')
    await ada.isToldInTheEnd('thanks')
    await ada.examines('run')
    expect(target.requests.map(({ method }) => method)).toContain('POST')

    // Enables social login.
    await ada.goesTo('Sign-in methods')
    await ada.presses('Enable Google')
    await ada.isTold('Users can sign in with a password or Google.')

    // Adds an endpoint.
    await ada.goesTo('Endpoints')
    await ada.follows('Create endpoint')
    await ada.types({ URL: target.url, 'Event types': 'order.*' })
    await ada.presses('Create endpoint')
    await ada.reads('Endpoint created')
    await ada.examines('endpoint-secret')
    await ada.keepsTheSecret()
    await ada.isTold('Active')

    // Sends a message with the command of a key and sees it delivered.
    await ada.goesTo('API keys')
    await ada.follows('Create key')
    await ada.types({ Name: 'Shop' })
    await ada.chooses('Webhooks')
    await ada.presses('Create key')
    await ada.reads('API key created')
    expect(await runs('Send a message')).toContain('"event_type":"order.paid"')
    await ada.keepsTheSecret()
    await ada.goesTo('Messages')
    await ada.follows(/^order.paid/)
    await ada.isToldInTheEnd(/^Delivered to 1 of 1/)
    await ada.goesTo('Deliveries')
    await ada.follows(/order.paid/)
    await ada.isTold('thanks')
    expect(target.requests.at(-1)?.headers.get('webhook-signature')).toStartWith('v1,')

    // Signs in with the test bot.
    await ada.goesTo('Bot')
    await ada.follows('test bot')
    await ada.presses('Start test login')
    await ada.reads('Test login')
    await ada.examines('login')
    await ada.approvesInChat('Open link')
    await ada.isToldInTheEnd('Approved by Ada Lovelace')

    // Invites a colleague.
    await ada.goesTo('Team')
    await ada.follows('Invite member')
    await ada.types({ Email: 'ben@example.com' })
    await ada.chooses('Viewer')
    await ada.presses('Invite member')
    await ada.reads(/^Invitation (sent|created)$/)
    await ada.examines('invited')
    const invitation = ada.page.getByText('/console/invitation/').first()
    const ben = await newNewcomer(stack, { hasScripts, look: NARROW_DARK })
    await ben.page.goto((await invitation.textContent()) ?? '')
    await ben.reads('Join Paper shop')
    await ben.examines('invitation')
    await ben.types({ 'Your name': 'Ben Okafor', Password: 'seven green bicycles' })
    await ben.presses('Create account and join')
    await ben.reads('Paper shop')

    // The colleague can look, but change nothing.
    const entries = await ben.sidebar.getByRole('link').allInnerTexts()
    expect(entries).not.toContain('API keys')
    for (const entry of entries.slice(1)) {
      await ben.goesTo(entry)
      const offers = entry === 'Team' ? [expect.stringMatching(/\/team\/leave$/)] : []
      expect([entry, await ben.offers()]).toEqual([entry, offers])
    }
    await ben.goesTo('Jobs')
    await ben.follows(/^Nightly report/)
    await ben.isTold('thanks')
    const { pathname } = new URL(ben.page.url())
    const refused = await ben.page.request.post(`${server.url}${pathname}/run`)
    expect(refused.status()).toBe(403)
    if (!hasScripts) {
      const browser = await launchBrowser()
      stack.defer(() => browser.close())
      const page = await openPage(browser, 'about:blank')
      await page.context().addCookies(await ada.page.context().cookies())
      await page.goto(`${server.url}/console`)
      await expectGoodPages(page, [...ada.examined, ...ben.examined])
    }
    expect([ada.complaints, ben.complaints]).toEqual([[], []])
    for (const address of [...ada.visited, ...ben.visited])
      expect(address).toMatch(new RegExp(`^about:blank$|^${server.url}/(setup|console|auth)\\b`))
  },
  180_000,
)

/**
 * A person at a browser of their own: as one process, it sends the cookies of its first context with
 * the requests of scripts. Finds everything by its label.
 */
async function newNewcomer(
  stack: AsyncDisposableStack,
  { hasScripts, look = WIDE }: { hasScripts: boolean; look?: Look },
) {
  const browser = await launchBrowser()
  stack.defer(() => browser.close())
  const page = await openPage(browser, 'about:blank', look, { javaScript: hasScripts })
  page.context().setDefaultTimeout(PATIENCE_MS)
  /** Errors in the console of the browser: refused by the policy, not found, thrown. */
  const complaints: string[] = []
  const visited: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
  page.on('framenavigated', (frame) => visited.push(frame.url()))

  /** Pages without scripts, to be examined where axe can run. */
  const examined: { name: string; html: string }[] = []

  const reads = (heading: string | RegExp) =>
    page.getByRole('heading', { level: 1, name: heading }).waitFor()
  let clicked = 0
  /** Clicks the first of several: an empty page offers its action twice. */
  const clicks = (what: Locator) => {
    clicked++
    return what.first().click()
  }
  const presses = (name: string) => clicks(page.getByRole('button', { name, exact: true }))
  const follows = (name: string | RegExp) => clicks(page.getByRole('link', { name, exact: true }))
  const sidebar = page.getByRole('navigation', { name: 'Console' })

  /** Follows a link of the sidebar, which small screens hide behind a button. */
  async function goesTo(entry: string) {
    const menu = page.getByRole('button', { name: 'Menu', exact: true })
    if (await menu.isVisible()) await clicks(menu)
    await clicks(sidebar.getByRole('link', { name: entry, exact: true }))
    // A hidden sidebar has no role.
    const current = page.locator('nav a[aria-current=page]').filter({ hasText: entry })
    await current.waitFor({ state: 'attached' })
    await page.waitForLoadState()
  }

  /** Fills in fields by their labels, which may be marked as optional. */
  async function types(values: Record<string, string>) {
    for (const [label, value] of Object.entries(values))
      await page.getByLabel(new RegExp(`^${RegExp.escape(label)}( optional)?$`)).fill(value)
  }

  /** Waits for a text that a live update or a reload brings. */
  async function isToldInTheEnd(text: string | RegExp) {
    const end = performance.now() + PATIENCE_MS
    const said = page.getByText(text).first()

    for (;;) {
      await said.waitFor({ timeout: BEFORE_RELOAD_MS }).catch(() => {})
      if (await said.isVisible()) return
      if (performance.now() > end) throw new Error(`${page.url()} does not say ${text}`)
      await page.reload()
    }
  }

  /** Opens the chat with the test bot by a link, and selects the number of the page there. */
  async function approvesInChat(link: string) {
    const number = (await page.getByRole('main').locator('strong').first().textContent()) ?? ''
    const opened = page.context().waitForEvent('page')
    await follows(link)
    const chat = await opened
    await clicks(chat.getByRole('button', { name: number, exact: true }))
    await chat.getByRole('heading', { name: 'Sign-in approved' }).waitFor()
  }

  /** Follows a guide to its result, with this many clicks; returns the seconds that it took. */
  async function timed(goal: string, expected: number, follow: () => Promise<void>) {
    await examines(`guide-${goal}`)
    const [before, start] = [clicked, performance.now()]
    await follow()
    await isToldInTheEnd('It works')
    const took = performance.now() - start
    expect([goal, clicked - before]).toEqual([goal, expected])
    expect(took).toBeLessThan(FIRST_RESULT_MS)
    await examines(`guide-${goal}-done`)
    const next = page.getByRole('link', { name: /^Next: / })
    if (await next.isVisible()) await clicks(next)
    return Math.round(took / 100) / 10
  }

  /** The forms of the page, and its links to forms. */
  const offers = () =>
    page
      .getByRole('main')
      .locator('form[method=post], a:is([href$="/new"], [href$="/edit"], [href$="/invite"])')
      .evaluateAll((all) => all.map((one) => one.getAttribute('action') ?? one.outerHTML))

  /** Checks a page that is shown only once. */
  async function examines(name: string) {
    await page.waitForLoadState()
    expect([name, await scrollsSideways(page)]).toEqual([name, false])
    if (hasScripts) expect([name, await findingsOf(page)]).toEqual([name, []])
    else examined.push({ name, html: await page.content() })
    await screenshot(page, `newcomer-${hasScripts ? '' : 'plain-'}${name}`)
  }

  return {
    ...{
      page,
      complaints,
      visited,
      examined,
      sidebar,
      reads,
      presses,
      follows,
      goesTo,
      types,
      offers,
    },
    ...{ isToldInTheEnd, examines, approvesInChat, timed },
    isTold: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    chooses(option: string) {
      const name = new RegExp(`^${option}\\b`)
      return clicks(page.getByRole('radio', { name }).or(page.getByRole('checkbox', { name })))
    },
    /** Confirms that a secret is saved, and continues. */
    async keepsTheSecret() {
      await clicks(page.getByRole('checkbox', { name: /^I've saved the/ }))
      await presses('Continue')
    },
  }
}
