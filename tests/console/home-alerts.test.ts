import { describe, expect, test } from 'bun:test'
import { newOperator } from '../support/operator.ts'
import { bootHome, job, mainOf, runOnce } from './home-fixture.ts'

describe('what needs attention', () => {
  test('is nothing while all is well', async () => {
    await using here = await bootHome()
    await job(here)
    const words = await here.words()
    expect(words).toContain('No problems')
    expect(words).toContain('No problems: no failures in 1 job')
  })

  test('is a job that fails, until it runs again', async () => {
    await using here = await bootHome()
    const { body } = await job(here, { name: 'Nightly sync' })
    here.target.answers(() => new Response('', { status: 404 }))
    await runOnce(here)
    expect(await here.words()).toContain('Status 404')
    expect(await here.words()).toContain('1 job is failing.')
    expect(mainOf(await here.html())).toContain(`href="/console/jobs/${body.id}"`)
    here.target.answers(() => new Response('ok'))
    await runOnce(here)
    expect(await here.words()).toContain('No problems')
  })

  test('is an endpoint that fails, in the environment that is looked at', async () => {
    await using here = await bootHome()
    here.target.answers(() => new Response('', { status: 500 }))
    const { body } = await here.relay.post('/v1/relay/endpoints', { url: here.target.url })
    await here.relay.post('/v1/relay/messages', { event_type: 'order.paid', payload: {} })
    await here.app.clock.settled()
    expect(await here.words()).toContain('1 endpoint is failing.')
    expect(await here.words()).toContain('1 failed attempt, the first')
    expect(mainOf(await here.html())).toContain(`href="/console/endpoints/${body.id}"`)
    expect(await here.words(undefined, 'test')).not.toContain('is failing')
  })

  test('is an endpoint that was switched off by us, and none that somebody has paused', async () => {
    await using here = await bootHome()
    here.target.answers(() => new Response('', { status: 410 }))
    const { body } = await here.relay.post('/v1/relay/endpoints', { url: here.target.url })
    await here.relay.post('/v1/relay/messages', { event_type: 'order.paid', payload: {} })
    await here.app.clock.settled()
    expect(await here.words()).toContain('is disabled It returned 410 Gone.')
    await here.relay.patch(`/v1/relay/endpoints/${body.id}`, { active: true })
    await here.relay.patch(`/v1/relay/endpoints/${body.id}`, { active: false })
    expect(await here.words()).not.toContain('switched off')
  })

  test.each([
    [
      'that is not enabled',
      { is_enabled: 0, health: 'ok', issue: null },
      'is not enabled',
      'Enable',
    ],
    [
      'that hears nobody',
      { is_enabled: 1, health: 'unreachable', issue: 'Telegram does not answer' },
      'Telegram does not answer.',
      'Fix',
    ],
  ])('is a bot %s', async (_, state, words, action) => {
    await using here = await bootHome()
    const now = here.app.clock.now()
    here.app.db.client
      .query(
        `insert into passepartout_bots (id, tenant_id, environment, platform, platform_bot_id, username,
         token, is_enabled, match, transport, revision, health, trouble, created_at, updated_at)
         values ('bot', ?, 'live', 'telegram', '7', 'acme_bot', 'sealed', ?, 'optional', 'polling', 0, ?, ?, ?, ?)`,
      )
      .run(here.acme.id, state.is_enabled, state.health, state.issue, now, now)
    await job(here)
    const said = await here.words()
    expect(said).toContain('@acme_bot')
    expect(said).toContain(words)
    expect(said).toContain(action)
    expect(said).toContain('Everything is running, but something needs attention.')
  })

  test('is a month of which four fifths are used up', async () => {
    await using here = await bootHome({ flags: { 'metering-free-requests': '10' } })
    await here.app.platform.tenants.change({ kind: 'system' }, here.acme.id, { plan: 'free' })
    for (let n = 0; n < 7; n++) await here.acme.api.get('/v1/clockwork/jobs')
    await here.app.platform.metering.usageOf(here.acme.id)
    expect(await here.words()).not.toContain('80 %')
    await job(here)
    await here.app.platform.metering.usageOf(here.acme.id)
    expect(await here.words()).toContain("You've used 80% of this month's included requests.")
    expect(mainOf(await here.html())).toContain('href="/console/usage"')
  })

  test('is a backup that is missing, for whoever runs the installation, wherever they are', async () => {
    await using here = await bootHome()
    await job(here)
    const admin = await newOperator(here.app, { isAdmin: true, roles: { [here.acme.id]: 'owner' } })
    const session = await admin.signIn()
    await session.actIn(here.acme.id)
    expect(await here.words(session)).toContain('No backup in the last day')
    expect(mainOf(await here.html(session))).toContain('value="installation"')
    expect(await here.words()).not.toContain('backup')
    await session.actIn(null)
    expect(await here.words(session)).toContain('No backup in the last day')
  })

  test('is told of a few of each kind, and where the others are', async () => {
    await using here = await bootHome()
    here.target.answers(() => new Response('', { status: 404 }))
    for (let n = 0; n < 6; n++) await job(here, { name: `Job ${n}` })
    await runOnce(here)
    const words = await here.words()
    expect(words).toContain('6 jobs are failing.')
    expect(words).toContain('2 more jobs are failing')
  })
})
