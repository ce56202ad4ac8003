import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { personalData } from '../../../src/engines/passepartout/store/personal-data.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import { bootPassepartout, type Fixture, type Tenant } from '../../engines/passepartout/fixture.ts'

let contract: Fixture
let acme: Tenant
beforeAll(async () => {
  contract = await bootPassepartout()
  acme = await contract.newTenant()
})
afterAll(() => contract.stop())

const CLIENT = { ip: '198.51.100.7', user_agent: 'stranger', label: 'Their phone' }

const signInsOf = (id: string) => {
  using snapshot = openSnapshot(contract.app.db)
  return personalData(snapshot, acme.id, id)?.sign_ins
}

describe('where a sign-in was started', () => {
  test('is told to whoever it was that signed in, and not to who only opened it', async () => {
    const ada = contract.botApi.person({ first_name: 'Ada' })
    const { nonce, deep_link: own, match_code: shown } = await acme.live.start(CLIENT)
    await contract.answer(acme.bot, ada, own, `${shown}`)
    const { user } = (await acme.live.status(nonce)).body
    const { deep_link: theirs } = await acme.live.start(CLIENT)
    await contract.answer(acme.bot, ada, theirs, 'Deny')

    const [denied, approved] = signInsOf(user.id) ?? []
    expect(denied).toMatchObject({ state: 'denied' })
    expect(JSON.stringify(denied)).not.toMatch(/198\.51|stranger|phone/)
    expect(approved).toMatchObject({
      state: 'approved',
      client_ip: CLIENT.ip,
      client_user_agent: CLIENT.user_agent,
      client_label: CLIENT.label,
    })
  })
})
