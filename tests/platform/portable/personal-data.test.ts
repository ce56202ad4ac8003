import { expect, test } from 'bun:test'
import { personalData } from '../../../src/engines/passepartout/store/personal-data.ts'
import { auditOf } from '../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import { bootPassepartout } from '../../engines/passepartout/fixture.ts'
import { bootTestApp } from '../../support/app.ts'

const CLIENT = { ip: '198.51.100.7', user_agent: 'stranger', label: 'Their phone' }

test('The origin of a sign-in is personal data of the person who signed in, not of who opened it', async () => {
  const contract = await bootPassepartout()
  const acme = await contract.newTenant()
  const ada = contract.botApi.person({ first_name: 'Ada' })
  const { nonce, deep_link: own, match_code: shown } = await acme.live.start(CLIENT)
  await contract.answer(acme.bot, ada, own, `${shown}`)
  const { user } = (await acme.live.status(nonce)).body
  const { deep_link: theirs } = await acme.live.start(CLIENT)
  await contract.answer(acme.bot, ada, theirs, 'Deny')
  using snapshot = openSnapshot(contract.app.db)
  const [denied, approved] = personalData(snapshot, acme.id, user.id)?.sign_ins ?? []
  expect(denied).toMatchObject({ state: 'denied' })
  expect(JSON.stringify(denied)).not.toMatch(/198\.51|stranger|phone/)
  const { ip: client_ip, user_agent: client_user_agent, label: client_label } = CLIENT
  const origin = { client_ip, client_user_agent, client_label }
  expect(approved).toMatchObject({ state: 'approved', ...origin })
  await contract.stop()
})

test('The audit of a person has entries of their tenant alone, and addresses of their own actions', async () => {
  await using app = await bootTestApp()
  const insert = app.db.client.query(
    `INSERT INTO audit_log (at, tenant_id, actor_kind, actor_id, action, object, source, detail)
      VALUES (0, ?, ?, ?, ?, ?, '192.0.2.1', '{}')`,
  )
  insert.run('acme', 'person', 'ada', 'own', 'session:1')
  insert.run('acme', 'operator', 'bob', 'about', 'identity:ada')
  insert.run('acme', 'person', 'eve', 'other', 'identity:eve')
  insert.run('other', 'person', 'ada', 'foreign', 'session:1')
  insert.run('other', 'operator', 'bob', 'foreign', 'identity:ada')
  using snapshot = openSnapshot(app.db)
  const entries = auditOf(snapshot, 'acme', { id: 'ada', objects: ['identity:ada'] })
  expect(entries.map(({ action, from }) => [action, from])).toEqual([
    ['about', undefined],
    ['own', '192.0.2.1'],
  ])
})
