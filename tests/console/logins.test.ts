import { expect, test } from 'bun:test'
import { newId } from '../../src/platform/ids.ts'
import { MINUTE, useConsole } from './fixture.ts'

const PAGE = '/logins'

const app = await useConsole()
const { bots, queries } = app.passepartout

async function withBot() {
  const { id: tenantId, owner } = await app.newTenant()
  const test = { tenantId, environment: 'test' } as const
  await bots.enable({ kind: 'cli' }, test)
  const pages = owner.in('test')

  async function start() {
    const { location } = await pages.send('/bots/try')
    const { pathname, searchParams } = new URL(location ?? '', 'http://localhost')
    const id = pathname.split('/').at(-1) ?? ''
    const link = searchParams.get('link') ?? ''
    const record = () => queries.get({ tenantId, environment: 'test' }, id)
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

  return { test, owner, pages, start, approved }
}

test('A login is followed, with link and code only for who started it', async () => {
  const { pages, start } = await withBot()
  const login = await start()
  const page = await pages.sees(login.path, 'Refresh', 'hx-trigger="every 2s"')
  page.says('data:image/png;base64,', `/sandbox/passepartout/${login.link}`)
  page.says(`<strong>${login.record().match_code}</strong>`)
  for (const link of ['', '?link=x', `?link=${(await start()).link}`]) {
    const other = await pages.sees(
      `${PAGE}/${login.id}${link}`,
      'Waiting for the link to be opened',
    )
    other.omits('data:image/png')
  }
  await login.answer('start')
  await pages.sees(login.path, 'Opened, waiting for approval')
  await login.answer()
  const done = await pages.sees(login.path, 'Approved by', 'Ada Lovelace')
  done.omits('every 2s', 'data:image/png')
  for (const id of [newId(), '../keys', '%00', '<script>'])
    expect((await pages.open(`${PAGE}/${encodeURIComponent(id)}`)).status).toBe(404)
})

test('A login that was not approved says why, and is counted by outcome and hour', async () => {
  const { test, owner, pages, start, approved } = await withBot()
  await (await withBot()).approved()
  const ok = await approved()
  const denied = await start()
  const wrong = await start()
  const unopened = await start()
  const opened = await start()
  await denied.answer('deny')
  await wrong.answer(wrong.record().match_code === '10' ? '11' : '10')
  await opened.answer('start')
  const newest = () => queries.lastDay(test).hours.at(-1)
  expect(queries.lastDay(test)).toMatchObject({ hours: { length: 24 }, isCut: false })
  expect(newest()).toEqual({ approved: 1, refused: 2, expired: 0, waiting: 2 })
  const list = await pages.sees(PAGE, 'Approved, 24 h, by hour: 1 in total')
  list.says('5 sign-ins in the last 24 hours: 1 approved, 2 denied, 0 expired')

  app.clock.jump(5 * MINUTE)
  for (const [{ path }, words] of [
    [denied, 'Denied by the user'],
    [wrong, 'the user selected the wrong number'],
    [unopened, 'Expired before the link was opened'],
    [opened, 'Expired: opened, but not answered'],
  ] as const)
    (await pages.sees(path, words)).omits('every 2s')
  await pages.sees(PAGE, '2 expired')
  expect((await pages.open(`${PAGE}?state=approved`)).rows).toEqual([ok.id])
  expect((await owner.open(PAGE)).rows).toEqual([])
  app.clock.jump(MINUTE)
  expect(newest()).toMatchObject({ expired: 2, waiting: 0 })
  const { hours } = queries.lastDay({ ...test, environment: 'live' })
  expect(hours.every(({ approved }) => approved === 0)).toBe(true)
})

test('A user is found by id, name and username, lists their logins, and is deleted', async () => {
  const { pages, owner, start, approved } = await withBot()
  const { userId, id, path } = await approved()
  const again = await approved()
  await start()
  for (const query of [userId, 'ada', '@ada_sandbox', 'ada_sandbox', ''])
    expect([query, (await pages.open(`${PAGE}/users?q=${query}`)).rows]).toEqual([query, [userId]])
  await pages.sees(`${PAGE}/users`, 'Newest user: now')
  await pages.sees(`${PAGE}/users?q=ada`, '1 user')
  await pages.sees(`${PAGE}/users?q=none`, 'No matching users')
  const user = `${PAGE}/users/${userId}`
  expect([again.userId, (await pages.open(user)).rows]).toEqual([userId, [again.id, id]])
  await pages.press(user, 'Delete user')
  expect(owner.audited('login_user.deleted')).toEqual([`passepartout:user:${userId}`])
  expect((await pages.open(user)).status).toBe(404)
  expect((await pages.send(`${user}/delete`)).status).toBe(404)
  await pages.sees(path, 'Approved by a user who has been deleted')
})
