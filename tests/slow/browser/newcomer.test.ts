import { afterAll, beforeAll, expect, test } from 'bun:test'
import { LOOKS } from '../../support/browser.ts'
import { type Installation, startInstallation } from '../../support/console-walk/installation.ts'
import { type Newcomer, newNewcomer } from '../../support/console-walk/newcomer.ts'
import { openShell } from '../../support/shell.ts'

/** The whole of the console as somebody meets it who has read nothing about it. */

/** In seconds. */
const TEN_MINUTES = 600
const LONG = 90_000
const ADA = { name: 'Ada Berg', email: 'ada@example.com', password: 'correct horse battery' }
const BEN = { name: 'Ben Okafor', email: 'ben@example.com', password: 'seven green bicycles' }
const TENANT = 'Paper shop'
const [WIDE, , , NARROW_DARK] = LOOKS

let installation: Installation

beforeAll(async () => {
  installation = await startInstallation()
}, 120_000)

afterAll(() => installation?.[Symbol.asyncDispose]())

test(
  'a newcomer has everything running within ten minutes, without reading about it',
  async () => {
    const { url, setUpUrl, target } = installation
    const steps: { name: string; seconds: number }[] = []
    await using ada = await newNewcomer({ look: WIDE })
    const { page } = ada

    /** As long as the machine and the person take for it. */
    async function step<Result>(name: string, take: () => Promise<Result>): Promise<Result> {
      const at = performance.now() + ada.pace.ms()
      const result = await take()
      const seconds = Math.round((performance.now() + ada.pace.ms() - at) / 1000)
      steps.push({ name, seconds })
      return result
    }

    await step('sets the installation up', async () => {
      await ada.opens(setUpUrl)
      await ada.reads('Set up Gatehouse')
      await ada.looks('01-set-up')
      await ada.types({
        'Your name': ADA.name,
        Email: ADA.email,
        Password: ADA.password,
        Tenant: TENANT,
      })
      await ada.presses('Create account and tenant')
    })

    await step('takes a key, whose command makes a job that arrives', async () => {
      await ada.reads('Create an API key')
      await ada.examines('02-first-key')
      await ada.presses('Create API key')
      await ada.reads('Your first job')
      expect(await runsTheCommand(ada, 'Run this in a terminal')).toContain('"next_run_at"')
      await ada.isTold(/Job Hello created/)
      await ada.examines('03-first-job')
      await ada.keepsTheSecret()
      await ada.reads(TENANT)
    })

    await step('creates a job and sees it run', async () => {
      await ada.goesTo('Jobs')
      await ada.looks('04-jobs')
      await ada.follows('Create job')
      await ada.reads('New job')
      await ada.types({ Name: 'Nightly report', Schedule: '0 6 * * *', URL: target.url })
      await ada.presses('Preview schedule')
      await ada.isTold(/Runs .*06:00/i)
      await ada.examines('05-new-job')
      await ada.presses('Create job')
      await ada.reads('Nightly report')
      await ada.looks('06-job')
      await ada.presses('Run now')
      await ada.isToldInTheEnd('thanks')
      await ada.examines('07-run')
      expect(target.requests.map(({ method }) => method)).toContain('POST')
    })

    await step('switches a provider on', async () => {
      await ada.goesTo('Sign-in methods')
      await ada.presses('Enable Google')
      await ada.isTold('Users can sign in with a password or Google.')
      await ada.looks('08-sign-in')
    })

    await step('adds an endpoint', async () => {
      await ada.goesTo('Endpoints')
      await ada.looks('09-endpoints')
      await ada.follows('Create endpoint')
      await ada.reads('New endpoint')
      await ada.types({ URL: target.url, 'Event types': 'order.*' })
      await ada.presses('Create endpoint')
      await ada.reads('Endpoint created')
      await ada.examines('10-endpoint-secret')
      await ada.keepsTheSecret()
      await ada.isTold('Active')
      await ada.looks('11-endpoint')
    })

    await step('sends a message by the shown command and sees it delivered', async () => {
      await ada.goesTo('API keys')
      await ada.follows('Create key')
      await ada.reads('New API key')
      await ada.chooses('Webhooks')
      await ada.presses('Create key')
      await ada.reads('API key created')
      await ada.looks('12-relay-key')
      const answer = await runsTheCommand(ada, 'Send a message')
      expect(answer).toContain('"event_type":"order.paid"')
      await ada.keepsTheSecret()
      await ada.goesTo('Messages')
      await ada.looks('13-messages')
      await ada.follows('order.paid')
      await ada.isToldInTheEnd(/^Delivered to 1 of 1/)
      await ada.looks('14-message')
      await ada.goesTo('Deliveries')
      await ada.looks('15-deliveries')
      await ada.follows(/order.paid/)
      await ada.isTold('thanks')
      await ada.looks('16-attempt')
      expect(target.requests.at(-1)?.headers.get('webhook-signature')).toStartWith('v1,')
    })

    await step('enables the bot of the sandbox and signs in by it', async () => {
      await ada.goesTo('Bots')
      await ada.looks('17-bots')
      await ada.presses('Enable bot')
      await ada.isTold('Bot enabled.')
      await ada.presses('Start test login')
      await ada.reads('Test login')
      await ada.examines('18-login')
      const question = page.getByText('The bot asks for this number')
      const number = await ada.copies(question.locator('strong'))
      const chat = await ada.opensBeside('Open link')
      await chat.reads(`Sign in to ${TENANT} as a test user`)
      await chat.looks('19-sandbox')
      await chat.presses(number)
      await chat.reads('Sign-in approved')
      await chat.looks('20-approved')
      await ada.isToldInTheEnd('Approved by Ada Lovelace')
      await ada.looks('21-signed-in')
    })

    const invitation = await step('invites a colleague', async () => {
      await ada.goesTo('Team')
      await ada.follows('Invite member')
      await ada.reads('Invite a member')
      await ada.types({ Email: BEN.email })
      await ada.chooses('Viewer')
      await ada.presses('Invite member')
      await ada.reads(/^Invitation (sent|created)$/)
      await ada.examines('22-invited')
      const link = await ada.copies(page.getByText('/console/invitation/'))
      await ada.keepsTheSecret()
      await ada.looks('23-team')
      return link
    })

    await using ben = await newNewcomer({ look: NARROW_DARK, pace: ada.pace })
    await step('lets the colleague see only what a viewer may', async () => {
      await ben.opens(invitation)
      await ben.reads(`Join ${TENANT}`)
      await ben.examines('24-invitation')
      await ben.types({ 'Your name': BEN.name, Password: BEN.password })
      await ben.presses('Create account and join')
      await ben.reads(TENANT)
      await ben.looks('25-viewer')
      const entries = await ben.entries()
      expect(entries).not.toContain('API keys')
      for (const entry of entries.slice(1)) {
        await ben.goesTo(entry)
        const offers = entry === 'Team' ? ['/console/team/leave'] : []
        expect([entry, await ben.offers()]).toEqual([entry, offers])
      }
      await ben.goesTo('Jobs')
      await ben.follows(/^Nightly report/)
      await ben.isTold('thanks')
      await ben.looks('26-viewer-job')
      expect(ben.complaints).toEqual([])
      const job = new URL(ben.page.url()).pathname
      for (const form of ['jobs/new', 'endpoints/new', 'keys/new', 'team/invite'])
        expect([form, (await ben.opens(`${url}/console/${form}`))?.status()]).toEqual([form, 403])
      const answer = await ben.page.request.post(`${url}${job}/run`)
      expect(answer.status()).toBe(403)
    })

    expect(ada.complaints).toEqual([])
    for (const place of new Set([...ada.visited, ...ben.visited]))
      expect(place).toMatch(new RegExp(`^${url}/(setup|console|sandbox)\\b`))
    const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
    expect([seconds < TEN_MINUTES, steps]).toEqual([true, steps])

    await ada.changesTo(NARROW_DARK)
    for (const entry of [
      'Overview',
      'Jobs',
      'Sign-in methods',
      'Endpoints',
      'Messages',
      'Bots',
      'Team',
    ]) {
      await ada.goesTo(entry)
      await ada.looks(`again-${entry.toLowerCase().replaceAll(' ', '-')}`)
    }
  },
  LONG,
)

/** In a terminal, as it stands on the page under its title. */
async function runsTheCommand({ page, copies }: Newcomer, title: string): Promise<string> {
  const command = page.getByRole('figure').filter({ hasText: title }).locator('code')
  await using shell = openShell({ cwd: installation.folder, env: {} })
  return await shell.run(await copies(command))
}
