import { describe, expect, test } from 'bun:test'
import { newId } from '../../src/platform/ids.ts'
import { MINUTE, useConsole } from './fixture.ts'

const PAGE = '/console/logins'

const app = await useConsole()
const { bots, records } = app.passepartout

/** A tenant with the test bot, and its owner at the pages of the test environment. */
async function withBot() {
  const { id: tenantId, owner, as } = await app.newTenant()
  const test = { tenantId, environment: 'test' } as const
  await bots.enable({ kind: 'cli' }, test)
  const pages = owner.in('test')

  /** A login, started on the page of the bot. */
  async function start() {
    const { location } = await pages.send('/console/bots/test/try')
    const { pathname, searchParams } = new URL(location ?? '', 'http://localhost')
    const id = pathname.split('/').at(-1) ?? ''
    const link = searchParams.get('link') ?? ''
    const record = () => records.get(tenantId, id)
    /** What the user selects in the chat. */
    const answer = (choice = record().match_code ?? '') =>
      app.raw(`/sandbox/passepartout/${link}`, {
        method: 'POST',
        body: new URLSearchParams({ choice, person: 'ada' }),
      })
    return { id, link, path: `${PAGE}/${id}?link=${link}`, record, answer }
  }

  async function approved() {
    const login = await start()
    await login.answer()
    return { ...login, userId: login.record().user_id ?? '' }
  }

  return { tenantId, test, owner, as, pages, start, approved }
}

test('Logins are listed by environment and state, 50 on a page', async () => {
  const { owner, pages, start, approved } = await withBot()
  expect((await pages.open(PAGE)).text).toContain('No test sign-ins yet')
  const { id } = await approved()
  const waiting: string[] = []
  for (let n = 0; n < 51; n++) waiting.unshift((await start()).id)
  const first = await pages.open(PAGE)
  const second = await pages.open(first.next)
  expect([first.rows, second.rows]).toEqual([waiting.slice(0, 50), [...waiting.slice(50), id]])
  expect((await pages.open(`${PAGE}?state=approved`)).rows).toEqual([id])
  expect((await pages.open(`${PAGE}?state=denied`)).text).toContain('No sign-ins with status')
  expect((await pages.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
  expect((await owner.open(PAGE)).rows).toEqual([])
})

describe('A login', () => {
  test('is followed, with link and code only for who started it', async () => {
    const { pages, start } = await withBot()
    const login = await start()
    const { text, html } = await pages.open(login.path)
    expect(text).toContain('Refresh')
    for (const part of [
      'hx-trigger="every 2s"',
      'data:image/png;base64,',
      `/sandbox/passepartout/${login.link}`,
      `<strong>${login.record().match_code}</strong>`,
    ])
      expect(html).toContain(part)
    for (const link of ['', '?link=x', `?link=${(await start()).link}`]) {
      const page = await pages.open(`${PAGE}/${login.id}${link}`)
      expect(page.html).not.toContain('data:image/png')
      expect(page.text).toContain('Waiting for the link to be opened')
    }

    await login.answer('start')
    expect((await pages.open(login.path)).text).toContain('Opened, waiting for approval')
    await login.answer()
    const done = await pages.open(login.path)
    expect(done.html).toMatch(/Approved by <a href="\/console\/logins\/users\/[\w-]+">/)
    expect(done.text).toContain('Ada Lovelace')
    expect(done.html).not.toMatch(/every 2s|data:image\/png/)
  })

  test('that was not approved says why', async () => {
    const { pages, start } = await withBot()
    const [denied, wrong, unopened, opened] = [
      await start(),
      await start(),
      await start(),
      await start(),
    ]
    await denied.answer('deny')
    await wrong.answer(wrong.record().match_code === '10' ? '11' : '10')
    await opened.answer('start')
    app.clock.jump(5 * MINUTE)
    for (const [{ path }, words] of [
      [denied, 'Denied by the user'],
      [wrong, 'the user selected the wrong number'],
      [unopened, 'Expired before the link was opened'],
      [opened, 'Expired: opened, but not answered'],
    ] as const) {
      const { text, html } = await pages.open(path)
      expect([text.includes(words), html.includes('every 2s')]).toEqual([true, false])
    }
    expect((await pages.open(PAGE)).text).toContain('2 expired')
  })

  test.each([newId(), '../keys', '%00', '<script>'])('with the id %j is not found', async (id) => {
    const { pages } = await withBot()
    expect((await pages.open(`${PAGE}/${encodeURIComponent(id)}`)).status).toBe(404)
  })

  test('is counted by outcome and hour', async () => {
    const { test, pages, start, approved } = await withBot()
    await (await withBot()).approved()
    await approved()
    await (await start()).answer('deny')
    await start()
    const tally = () => {
      const { hours, isCut } = records.lastDay(test)
      return [hours.length, isCut, hours.at(-1)]
    }
    const counts = { approved: 1, refused: 1, expired: 0, waiting: 1 }
    expect(tally()).toEqual([24, false, counts])
    const { html } = await pages.open(PAGE)
    for (const words of [
      '3 sign-ins in the last 24 hours: 1 approved, 1 denied, 0 expired',
      'Approved, 24 h, by hour: 1 in total',
    ])
      expect(html).toContain(words)
    app.clock.jump(6 * MINUTE)
    expect(tally()[2]).toMatchObject({ expired: 1, waiting: 0 })
    const { hours } = records.lastDay({ ...test, environment: 'live' })
    expect(hours.every(({ approved }) => approved === 0)).toBe(true)
  })
})

describe('A user', () => {
  test('is found by id, name and username, and lists their logins', async () => {
    const { pages, start, approved } = await withBot()
    expect((await pages.open(`${PAGE}/users`)).text).toContain('No users yet')
    const { userId, id } = await approved()
    const again = await approved()
    await start()
    for (const query of ['', '?q=', `?q=${userId}`, '?q=ada', '?q=@ada_sandbox', '?q=ada_sandbox'])
      expect([query, (await pages.open(`${PAGE}/users${query}`)).rows]).toEqual([query, [userId]])
    expect((await pages.open(`${PAGE}/users?q=none`)).text).toContain('No matching users')
    const { rows } = await pages.open(`${PAGE}/users/${userId}`)
    expect([again.userId, rows]).toEqual([userId, [again.id, id]])
  })

  test('is deleted', async () => {
    const { pages, owner, approved } = await withBot()
    const { path, userId } = await approved()
    const user = `${PAGE}/users/${userId}`
    expect((await pages.send(`${user}/delete`)).location).toBe(`${PAGE}/users?done=deleted`)
    expect(owner.audited('login_user.deleted')).toEqual([`passepartout:user:${userId}`])
    expect((await pages.open(user)).status).toBe(404)
    expect((await pages.send(`${user}/delete`)).status).toBe(404)
    expect((await pages.open(path)).text).toContain('Approved by a user who has been deleted')
  })
})
