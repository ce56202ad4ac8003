import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import { Node } from '../../../../../../src/engines/gate/sign-in/model.ts'

const say = ui.createSay('en')

type Row = (string | number)[]

/** On what people do not see. */
const NO_LABEL = 0

const TABLE: [what: string, nodesIn: (say: ui.Say) => Node[], rows: Row[]][] = [
  ['every flow', () => [ui.csrfNode('t')], [['default', 'csrf_token', 'hidden', NO_LABEL]]],
  [
    'login by password',
    (say) => [ui.identifierNode(say), ...ui.passwordLogin(say, { isRefresh: false })],
    [
      ['default', 'identifier', 'text', 1070002],
      ['password', 'password', 'password', 1070001],
      ['password', 'method', 'submit', 1010022],
    ],
  ],
  [
    'login of somebody who is signed in',
    (say) => [
      ui.identifierNode(say, { value: 'a@b.c', isHidden: true }),
      ...ui.passwordLogin(say, { isRefresh: true }),
    ],
    [
      ['default', 'identifier', 'hidden', 1070002],
      ['password', 'password', 'password', 1070001],
      ['password', 'method', 'submit', 1010001],
    ],
  ],
  ['login by code', (say) => ui.codeLogin(say), [['code', 'method', 'submit', 1010015]]],
  [
    'login by code, sent',
    (say) => ui.codeLoginSent(say, { identifier: 'a@b.c' }),
    [
      ['default', 'identifier', 'hidden', 1070002],
      ['code', 'code', 'text', 1070013],
      ['code', 'method', 'hidden', NO_LABEL],
      ['code', 'method', 'submit', 1070009],
      ['code', 'resend', 'submit', 1070008],
    ],
  ],
  [
    'login by provider',
    (say) => ui.socialButtons(say, 'login', ['github', 'google']),
    [
      ['oidc', 'provider', 'submit', 1010002],
      ['oidc', 'provider', 'submit', 1010002],
    ],
  ],
  [
    'login, second factor, by app',
    (say) => ui.totpLogin(say),
    [
      ['totp', 'totp_code', 'text', 1010006],
      ['totp', 'method', 'submit', 1010009],
    ],
  ],
  [
    'login, second factor, by recovery code',
    (say) => ui.lookupLogin(say),
    [
      ['lookup_secret', 'lookup_secret', 'text', 1010007],
      ['lookup_secret', 'method', 'submit', 1010010],
    ],
  ],
  [
    'registration by password',
    (say) => [ui.emailTrait(say), ...ui.passwordRegistration(say)],
    [
      ['default', 'traits.email', 'email', 1070002],
      ['password', 'password', 'password', 1070001],
      ['password', 'method', 'submit', 1040001],
    ],
  ],
  [
    'registration by code',
    (say) => ui.codeRegistration(say),
    [['code', 'method', 'submit', 1040006]],
  ],
  [
    'registration by code, sent',
    (say) => ui.codeRegistrationSent(say, { email: 'a@b.c' }),
    [
      ['default', 'traits.email', 'hidden', 1070002],
      ['code', 'code', 'text', 1070012],
      ['code', 'method', 'hidden', NO_LABEL],
      ['code', 'method', 'submit', 1070009],
      ['code', 'resend', 'submit', 1070008],
    ],
  ],
  [
    'registration by provider',
    (say) => ui.socialButtons(say, 'registration', ['apple']),
    [['oidc', 'provider', 'submit', 1040002]],
  ],
  [
    'recovery',
    (say) => ui.recoveryStart(say),
    [
      ['code', 'email', 'email', 1070007],
      ['code', 'method', 'submit', 1070009],
    ],
  ],
  [
    'recovery, sent',
    (say) => ui.recoveryCodeSent(say, { email: 'a@b.c' }),
    [
      ['code', 'code', 'text', 1070010],
      ['code', 'method', 'hidden', NO_LABEL],
      ['code', 'method', 'submit', 1070009],
      ['code', 'email', 'submit', 1070008],
    ],
  ],
  [
    'verification',
    (say) => ui.verificationStart(say),
    [
      ['code', 'email', 'email', 1070007],
      ['code', 'method', 'submit', 1070009],
    ],
  ],
  [
    'verification, sent',
    (say) => ui.verificationCodeSent(say, { email: 'a@b.c' }),
    [
      ['code', 'code', 'text', 1070011],
      ['code', 'method', 'hidden', NO_LABEL],
      ['code', 'method', 'submit', 1070009],
      ['code', 'email', 'submit', 1070008],
    ],
  ],
  [
    'verification, done',
    (say) => ui.verificationDone(say, { continueTo: 'https://app.example.com/' }),
    [['code', 'continue', 'a', 1070009]],
  ],
  ['verification, done, with nowhere to go', (say) => ui.verificationDone(say), []],
  [
    'settings: profile',
    (say) => ui.profileSettings(say, { email: 'a@b.c' }),
    [
      ['profile', 'traits.email', 'email', 1070002],
      ['profile', 'method', 'submit', 1070003],
    ],
  ],
  [
    'settings: password',
    (say) => ui.passwordSettings(say),
    [
      ['password', 'password', 'password', 1070001],
      ['password', 'method', 'submit', 1070003],
    ],
  ],
  [
    'settings: providers',
    (say) => ui.socialSettings(say, { unlinked: ['github', 'apple'], removable: ['slack'] }),
    [
      ['oidc', 'link', 'submit', 1050002],
      ['oidc', 'link', 'submit', 1050002],
      ['oidc', 'unlink', 'submit', 1050003],
    ],
  ],
  [
    'settings: providers, of which the one connected is the last way in',
    (say) => ui.socialSettings(say, { unlinked: ['github'], removable: [] }),
    [['oidc', 'link', 'submit', 1050002]],
  ],
  [
    'settings: no app yet',
    (say) => ui.totpSetup(say, { qr: 'data:image/png;base64,', secret: 'JBSWY3DP' }),
    [
      ['totp', 'totp_qr', 'img', 1050005],
      ['totp', 'totp_secret_key', 'text', 1050017],
      ['totp', 'totp_code', 'text', 1070006],
      ['totp', 'method', 'submit', 1070003],
    ],
  ],
  ['settings: an app', (say) => ui.totpSet(say), [['totp', 'totp_unlink', 'submit', 1050004]]],
  [
    'settings: no recovery codes yet',
    (say) => ui.lookupNone(say),
    [['lookup_secret', 'lookup_secret_regenerate', 'submit', 1050008]],
  ],
  [
    'settings: recovery codes',
    (say) => ui.lookupSet(say),
    [
      ['lookup_secret', 'lookup_secret_regenerate', 'submit', 1050008],
      ['lookup_secret', 'lookup_secret_disable', 'submit', 1050016],
    ],
  ],
  [
    'settings: recovery codes, shown',
    (say) => ui.lookupShown(say, { codes: ['abcd-1234'] }),
    [
      ['lookup_secret', 'lookup_secret_codes', 'text', 1050010],
      ['lookup_secret', 'lookup_secret_confirm', 'submit', 1050011],
    ],
  ],
]

const rowOf = ({ group, attributes, meta }: Node): Row => [
  group,
  attributes.name,
  attributes.type,
  meta.label.id,
]

test.each(TABLE)('%s: the nodes in their order', (_, nodesIn, rows) => {
  expect(nodesIn(say).map(rowOf)).toEqual(rows)
})

test.each(TABLE)('%s: the same nodes in German, labelled in German', (_, nodesIn, rows) => {
  const labels = nodesIn(say).map(({ meta }) => meta.label.text)
  const inGerman = nodesIn(ui.createSay('de'))

  expect(inGerman.map(rowOf)).toEqual(rows)
  for (const [index, { meta }] of inGerman.entries())
    if (meta.label.text) expect(meta.label.text).not.toBe(labels[index])
})

test.each(TABLE)('%s: every node is what the schema of flows allows', (_, nodesIn) => {
  for (const node of nodesIn(say)) expect([...Value.Errors(Node, node)]).toEqual([])
})

test.each(TABLE)('%s: every node is whole', (_, nodesIn) => {
  for (const { type, attributes, messages } of nodesIn(say)) {
    expect(attributes.node_type).toBe(type)
    expect(messages).toEqual([])
    expect(Object.values(attributes)).not.toContain(undefined)
    if (attributes.node_type === 'input') expect(attributes.disabled).toBe(false)
  }
})

const FILLED_IN = ['text', 'email', 'password']

test.each(TABLE)('%s: what is filled in is required, and buttons have a value', (_, nodesIn) => {
  for (const { attributes } of nodesIn(say))
    if (attributes.node_type === 'input') {
      if (FILLED_IN.includes(attributes.type)) expect(attributes.required).toBe(true)
      else expect(attributes.value).toBeString()
    }
})

test.each(TABLE)('%s: the first button sends what was typed in', (_, nodesIn) => {
  const inputs = nodesIn(say).flatMap(({ attributes }) =>
    attributes.node_type === 'input' ? [attributes] : [],
  )
  const button = inputs.find(({ type }) => type === 'submit')
  if (inputs.some(({ type }) => FILLED_IN.includes(type))) expect(button?.name).toBe('method')
})
