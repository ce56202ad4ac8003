import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HOUSE_ID } from '../../../src/platform/house.ts'
import { newOperator } from '../../support/operator.ts'
import { type AdminWorld, audited, bootAdmin, HOSTILE, isEscaped, textOf } from './admin-world.ts'

const PATH = '/console/admin/operators'

let world: AdminWorld
beforeAll(async () => {
  world = await bootAdmin()
})
afterAll(() => world.app.stop())

const lastAudited = (action: string) => audited(world.app, action).at(-1)

/** Whether somebody with a new session gets to the pages of the installation. */
async function mayRun(operator: Awaited<ReturnType<typeof newOperator>>): Promise<boolean> {
  const session = await operator.signIn()
  return (await world.app.raw(PATH, { headers: session.headers })).status === 200
}

describe('the list of operators', () => {
  test('has everybody with what they run', async () => {
    const { id } = await world.app.tenant('Run by Ada')
    await newOperator(world.app, { email: 'ada@list.example', roles: { [id]: 'owner' } })
    const text = textOf(await world.open(`${PATH}?q=ADA@list`))
    expect(text).toMatch(/ada@list\.example .*active Runs Run by Ada \(owner\)/)
    expect(textOf(await world.open(`${PATH}?q=nobody-so`))).toContain('Nobody is like that.')
  })

  test('is narrowed to those who run the installation', async () => {
    await newOperator(world.app, { email: 'plain@list.example' })
    const text = textOf(await world.open(`${PATH}?admin=true`))
    expect(text).toContain('admin@example.com')
    expect(text).not.toContain('plain@list.example')
  })

  test('goes on page by page, each person once', async () => {
    const { app, open } = await bootAdmin()
    await using _ = app
    for (let n = 0; n < 60; n++) await newOperator(app, { email: `many-${n}.@example.com` })
    const first = await open(`${PATH}?q=many-`)
    const [, href = ''] = /rel="next" href="([^"]+)"/.exec(first.body) ?? []
    const second = await open(href.replaceAll('&amp;', '&'))
    const seen = `${first.body}${second.body}`.match(/>many-\d+\.@/g) ?? []
    expect([seen.length, new Set(seen).size]).toEqual([60, 60])
  })
})

describe('the right to run the installation', () => {
  test('is given and taken, and both are audited', async () => {
    const colleague = await newOperator(world.app)
    expect(await mayRun(colleague)).toBe(false)
    const given = await world.send(`${PATH}/${colleague.id}/give-admin`)
    expect(textOf(await world.follow(given))).toContain('They run the installation from now on.')
    expect(await mayRun(colleague)).toBe(true)

    const entry = {
      actor_kind: 'operator',
      actor_id: world.admin.id,
      tenant_id: HOUSE_ID,
      object: `operator:${colleague.id}`,
    }
    expect(lastAudited('admin.added')).toMatchObject(entry)
    await world.send(`${PATH}/${colleague.id}/take-admin`)
    expect(await mayRun(colleague)).toBe(false)
    expect(lastAudited('admin.removed')).toMatchObject(entry)
  })

  test('is not given to somebody who is deactivated', async () => {
    const gone = await newOperator(world.app)
    await gone.deactivate()
    expect((await world.send(`${PATH}/${gone.id}/give-admin`)).status).toBe(409)
    expect(textOf(await world.open(`${PATH}/${gone.id}`))).toContain(
      'Not while they are deactivated.',
    )
  })

  test('is kept by the last who has it, whoever else is deactivated', async () => {
    const fresh = await bootAdmin()
    await using app = fresh.app
    const gone = await newOperator(app, { isAdmin: true })
    await gone.deactivate()
    const own = `${PATH}/${fresh.admin.id}`
    expect((await fresh.send(`${own}/take-admin`)).status).toBe(409)
    expect(textOf(await fresh.open(own))).toContain('Nobody else runs the installation')
    expect(audited(app, 'admin.removed')).toEqual([])
  })

  test('may be given up where somebody else has it', async () => {
    const fresh = await bootAdmin()
    await using app = fresh.app
    await newOperator(app, { isAdmin: true })
    const answer = await fresh.send(`${PATH}/${fresh.admin.id}/take-admin`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console'])
    expect((await fresh.open(PATH)).status).toBe(403)
  })

  test('asks for no people of tenants', async () => {
    const { id, key } = await world.app.tenant()
    const { key: secret } = await key('gate')
    const person = await world.app
      .client(secret)
      .post('/v1/gate/identities', { schema_id: 'user', traits: { email: 'user@example.com' } })
    expect([person.status, id.length]).toEqual([201, 36])
    expect((await world.open(`${PATH}/${person.body.id}`)).status).toBe(404)
    expect((await world.send(`${PATH}/${person.body.id}/give-admin`)).status).toBe(404)
  })
})

test.each(HOSTILE)('a tenant with a name %s is text at who runs it', async (_, name) => {
  const { id } = await world.app.tenant(name)
  const operator = await newOperator(world.app, { roles: { [id]: 'owner' } })
  for (const path of [`${PATH}?q=${operator.id}`, `${PATH}/${operator.id}`]) {
    const page = await world.open(path)
    expect([page.status, isEscaped(page)]).toEqual([200, true])
  }
})
