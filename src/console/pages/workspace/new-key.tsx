import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkboxes, Radios } from '../../../../views/ui/form/choices.tsx'
import { checkedValues, Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import type { Fields } from '../../../http/body.ts'
import {
  ENGINE_SCOPES,
  ENGINES,
  ENVIRONMENTS,
  hasEnvironments,
  type KeyEngine,
} from '../../../platform/engines.ts'
import { invalid } from '../../../platform/errors.ts'
import type { NewKey } from '../../../platform/keys/index.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { type PageContext, page, shown } from '../../page.tsx'
import { IssuedKeyPage } from './issued-key.tsx'
import { ExpiryField, expiryIn, KEY_FIELDS, NameAndNote, nameIn } from './key-fields.tsx'
import { engineIn } from './keys.tsx'

/** Descriptions of the scopes. */
const SCOPE_WORDS: Record<string, string> = {
  'identities:read': 'Read users',
  'identities:write': 'Create, update and delete users',
  'sessions:write': 'Revoke sessions',
  flows: 'Sign users in and up',
  'settings:read': 'Read sign-in methods, policies and webhooks',
  'settings:write': 'Change sign-in methods, policies and webhooks',
  'tokens:write': 'Issue, introspect and revoke access tokens',
  authorize: 'Check permissions',
  'installation:read': 'Read tenants, their keys, usage and members, and operators',
  'installation:write': 'Create, update and delete them: as powerful as an admin, and more',
  'notifications:read': 'Read channels, alerts and what was sent',
  'notifications:write': 'Create, update, test and delete channels; mute alerts',
  'manifest:read': 'Export the configuration and plan changes',
  'manifest:write': 'Change all of the configuration, including the keys and their scopes',
  'relay:send': 'Send messages',
  'relay:read': 'Read messages, endpoints and deliveries',
  'relay:endpoints': 'Create, update and delete endpoints; retry deliveries',
}

/** Name of the field with the scopes of an engine. */
export const scopesField = (engine: KeyEngine): string => `${engine}_scopes`

/** The scopes of an engine to choose from, all of them at first. */
export const ScopesField = ({ of, label }: { of: KeyEngine; label: string }) => (
  <Checkboxes
    name={scopesField(of)}
    label={label}
    values={ENGINE_SCOPES[of]}
    options={ENGINE_SCOPES[of].map((value) => ({ value, label: value, text: SCOPE_WORDS[value] }))}
  />
)

const hasChoice = (engine: KeyEngine): boolean => ENGINE_SCOPES[engine].length > 1

/** The form of a new API key. The style sheet shows the fields of the chosen engines. */
export const newKey = page({
  path: '/keys/new',
  section: 'keys',
  right: 'keys',
  title: 'New API key',

  load: ({ query }) => ({ engine: engineIn(query.engine) }),

  view: ({ engine }) => (
    <>
      <PageHead
        title="New API key"
        state={{ sentence: 'The key is shown once and works immediately.' }}
      />
      <div class="keyform">
        <PageForm action="" buttons={<Button weight="primary">Create key</Button>} cancel="/keys">
          <NameAndNote />
          <Checkboxes
            name="engines"
            label="Engines"
            values={engine ? [engine] : []}
            options={ENGINES.map((value) => ({ value, ...ENGINE_WORDS[value] }))}
            help="Choose what your app uses. One key can work with several engines."
          />
          <div class={`of-engine ${ENGINES.filter(hasEnvironments).join(' ')}`}>
            <Radios
              name="environment"
              label="Environment"
              value="live"
              options={[
                { value: 'live', label: 'Live' },
                {
                  value: 'test',
                  label: 'Test',
                  text: 'Webhooks and messenger logins stay in a sandbox; users are shared with live keys. Not for jobs.',
                },
              ]}
            />
          </div>
          {ENGINES.filter(hasChoice).map((of) => (
            <div class={`of-engine ${of}`}>
              <ScopesField of={of} label={`Scopes for ${ENGINE_WORDS[of].name.toLowerCase()}`} />
            </div>
          ))}
          <div class="of-engine gate">
            <Field
              name="own_scopes"
              label="Custom scopes"
              isMono
              isRequired={false}
              placeholder="orders.read orders.write"
              help="Scopes of your own services, for access tokens created with this key."
            />
          </div>
          <ExpiryField />
        </PageForm>
      </div>
    </>
  ),

  actions: {
    '': {
      right: 'keys',
      form: {
        ...KEY_FIELDS,
        engines: 'engines',
        environment: 'environment',
        scopes: 'own_scopes',
        ...Object.fromEntries(ENGINES.map((engine) => [scopesField(engine), scopesField(engine)])),
      },
      /** Shows the key in the response to the form, because it is not stored. */
      async run(context) {
        const { keys, tenantId, actor } = context
        const issued = await keys.issue(actor, { tenantId, ...wantedIn(context) })
        return shown('New API key', <IssuedKeyPage issued={issued} />)
      },
    },
  },
})

const ownScopesIn = (body: Fields): string[] =>
  trimmedText(body, 'own_scopes')
    .split(/[\s,]+/)
    .filter(Boolean)

function wantedIn(context: PageContext): Omit<NewKey, 'tenantId'> {
  const { fields: body } = context
  const chosen = checkedValues(body, 'engines')
  const engines = ENGINES.filter((engine) => chosen.includes(engine))
  checkAll([
    () => nameIn(context),
    () => requireChoice('engines', engines),
    ...engines.map((engine) => () => requireChoice(scopesField(engine), scopesIn(body, engine))),
    () => expiryIn(context),
  ])
  const environment = ENVIRONMENTS.find((one) => one === trimmedText(body, 'environment'))
  return {
    name: nameIn(context),
    note: trimmedText(body, 'note'),
    engines,
    scopes: [...engines.flatMap((engine) => scopesIn(body, engine)), ...ownScopesIn(body)],
    expiry: expiryIn(context) ?? undefined,
    ...(engines.some(hasEnvironments) && environment && { environment }),
  }
}

/** The chosen scopes of an engine. One with a single scope has no checkboxes. */
export function scopesIn(body: Fields, engine: KeyEngine): readonly string[] {
  const known: readonly string[] = ENGINE_SCOPES[engine]
  if (!hasChoice(engine)) return known
  return checkedValues(body, scopesField(engine)).filter((scope) => known.includes(scope))
}

/** Throws `invalid` unless there is a choice. */
export function requireChoice(field: string, chosen: readonly string[]) {
  if (chosen.length === 0)
    throw invalid('must have at least one choice', { field, rule: 'required' })
}
