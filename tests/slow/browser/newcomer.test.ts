import { afterAll, expect, test } from 'bun:test'
import { NARROW_DARK } from '../../support/browser.ts'
import { openShell } from '../../support/shell.ts'
import { type Newcomer, newNewcomer, startInstallation } from './newcomer.ts'

const ADA = { name: 'Ada Berg', email: 'ada@example.com', password: 'correct horse battery' }
const BEN = { name: 'Ben Okafor', email: 'ben@example.com', password: 'seven green bicycles' }
const TENANT = 'Paper shop'

const installation = await startInstallation()
afterAll(() => installation[Symbol.asyncDispose]())

test('A newcomer sets everything up without documentation, and a viewer can only look', async () => {
  const { url, setUpUrl, target } = installation
  await using ada = await newNewcomer()
  const { page } = ada

  // Sets the installation up.
  await ada.opens(setUpUrl)
  await ada.reads('Set up Gatehouse')
  await ada.types({
    'Your name': ADA.name,
    Email: ADA.email,
    Password: ADA.password,
    Tenant: TENANT,
  })
  await ada.presses('Create account and tenant')

  // Takes an API key, whose command creates a job.
  await ada.reads('Create an API key')
  await ada.examines('first-key')
  await ada.presses('Create API key')
  await ada.reads('Your first job')
  expect(await runsTheCommand(ada, 'Run this in a terminal')).toContain('"next_run_at"')
  await ada.isTold(/Job Hello created/)
  await ada.examines('first-job')
  await ada.keepsTheSecret()
  await ada.reads(TENANT)

  // Creates a job and sees it run.
  await ada.goesTo('Jobs')
  await ada.follows('Create job')
  await ada.reads('New job')
  await ada.types({ Name: 'Nightly report', Schedule: '0 6 * * *', URL: target.url })
  await ada.presses('Preview schedule')
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
  await ada.reads('New endpoint')
  await ada.types({ URL: target.url, 'Event types': 'order.*' })
  await ada.presses('Create endpoint')
  await ada.reads('Endpoint created')
  await ada.examines('endpoint-secret')
  await ada.keepsTheSecret()
  await ada.isTold('Active')

  // Sends a message with the command of a key and sees it delivered.
  await ada.goesTo('API keys')
  await ada.follows('Create key')
  await ada.reads('New API key')
  await ada.chooses('Webhooks')
  await ada.presses('Create key')
  await ada.reads('API key created')
  const answer = await runsTheCommand(ada, 'Send a message')
  expect(answer).toContain('"event_type":"order.paid"')
  await ada.keepsTheSecret()
  await ada.goesTo('Messages')
  await ada.follows('order.paid')
  await ada.isToldInTheEnd(/^Delivered to 1 of 1/)
  await ada.goesTo('Deliveries')
  await ada.follows(/order.paid/)
  await ada.isTold('thanks')
  expect(target.requests.at(-1)?.headers.get('webhook-signature')).toStartWith('v1,')

  // Enables the test bot and signs in with it.
  await ada.goesTo('Bots')
  await ada.presses('Enable bot')
  await ada.isTold('Bot enabled.')
  await ada.presses('Start test login')
  await ada.reads('Test login')
  await ada.examines('login')
  const question = page.getByText('The bot asks for this number')
  const number = await ada.copies(question.locator('strong'))
  const chat = await ada.opensBeside('Open link')
  await chat.reads(`Sign in to ${TENANT} as a test user`)
  await chat.presses(number)
  await chat.reads('Sign-in approved')
  await ada.isToldInTheEnd('Approved by Ada Lovelace')

  // Invites a colleague.
  await ada.goesTo('Team')
  await ada.follows('Invite member')
  await ada.reads('Invite a member')
  await ada.types({ Email: BEN.email })
  await ada.chooses('Viewer')
  await ada.presses('Invite member')
  await ada.reads(/^Invitation (sent|created)$/)
  await ada.examines('invited')
  const invitation = await ada.copies(page.getByText('/console/invitation/'))
  await ada.keepsTheSecret()

  await using ben = await newNewcomer(NARROW_DARK)
  // The colleague can look, but change nothing.
  await ben.opens(invitation)
  await ben.reads(`Join ${TENANT}`)
  await ben.examines('invitation')
  await ben.types({ 'Your name': BEN.name, Password: BEN.password })
  await ben.presses('Create account and join')
  await ben.reads(TENANT)
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
  expect(ben.complaints).toEqual([])
  const job = new URL(ben.page.url()).pathname
  for (const form of ['jobs/new', 'endpoints/new', 'keys/new', 'team/invite'])
    expect([form, (await ben.opens(`${url}/console/${form}`))?.status()]).toEqual([form, 403])
  const refused = await ben.page.request.post(`${url}${job}/run`)
  expect(refused.status()).toBe(403)

  expect(ada.complaints).toEqual([])
  for (const place of new Set([...ada.visited, ...ben.visited]))
    expect(place).toMatch(new RegExp(`^${url}/(setup|console|sandbox)\\b`))
}, 180_000)

/** Runs the command of the page under a title in a terminal. */
async function runsTheCommand({ page, copies }: Newcomer, title: string): Promise<string> {
  const command = page.getByRole('figure').filter({ hasText: title }).locator('code')
  await using shell = openShell({ cwd: installation.folder, env: {} })
  return await shell.run(await copies(command))
}
