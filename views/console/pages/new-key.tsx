import { ticked } from '../../../src/console/form.ts'
import type { Fields } from '../../../src/http/body.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../src/platform/engines.ts'
import { Button, LinkButton } from '../form/button.tsx'
import { Checkboxes, Radios } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { PageHead } from '../page-head.tsx'
import { url } from '../url.ts'
import { ENGINE_WORDS } from './key-words.ts'

/** What a scope lets a program do, where people choose them. */
const SCOPE_WORDS: Record<string, string> = {
  'identities:read': 'Look people up',
  'identities:write': 'Add, change and delete people',
  'sessions:write': 'End sessions',
  flows: 'Sign people in and up',
  'settings:read': 'Read sign-in methods, policies and webhooks',
  'settings:write': 'Change them',
  'tokens:write': 'Issue, introspect and revoke access tokens',
  authorize: 'Ask what somebody may do',
  'relay:send': 'Send events',
  'relay:read': 'Read events, endpoints and deliveries',
  'relay:endpoints': 'Add, change and delete endpoints; send again',
}

/** The field that holds the scopes of an engine; one that has a single one needs none. */
export const scopesField = (engine: Engine): string => `${engine}_scopes`

const hasChoice = (engine: Engine): boolean => ENGINE_SCOPES[engine].length > 1

interface Page {
  base: string
  /** Chosen where one came from, such as the list of its keys. */
  engine: Engine
  typed?: Fields
  errors?: readonly FormError[]
}

/** Chooses what a key is good for. What the chosen engine does not have is hidden by style alone. */
export const NewKeyPage = ({ base, engine, typed, errors }: Page) => {
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  return (
    <>
      <PageHead title="New key" state={{ sentence: 'It is shown once, and works at once.' }} />
      <div class="keyform">
        <Form
          action={url(base, '/console/keys')}
          errors={errors}
          buttons={
            <>
              <Button weight="primary">Create key</Button>
              <LinkButton weight="bare" href={url(base, '/console/keys')}>
                Back
              </LinkButton>
            </>
          }
        >
          <Radios
            name="engine"
            label="Engine"
            value={textIn(typed, 'engine') ?? engine}
            error={messageAt('engine')}
            options={ENGINES.map((value) => ({ value, ...ENGINE_WORDS[value] }))}
          />
          <div class="of-engine gate passepartout relay">
            <Radios
              name="environment"
              label="Data"
              value={textIn(typed, 'environment') ?? 'live'}
              error={messageAt('environment')}
              options={[
                { value: 'live', label: 'Live' },
                { value: 'test', label: 'Test', text: 'Apart from live data; reaches nobody.' },
              ]}
            />
          </div>
          {ENGINES.filter(hasChoice).map((of) => (
            <div class={`of-engine ${of}`}>
              <Checkboxes
                name={scopesField(of)}
                label={`Scopes of ${ENGINE_WORDS[of].label}`}
                values={typed ? ticked(typed, scopesField(of)) : ENGINE_SCOPES[of]}
                error={messageAt(scopesField(of))}
                options={ENGINE_SCOPES[of].map((value) => ({
                  value,
                  label: value,
                  text: SCOPE_WORDS[value],
                }))}
              />
            </div>
          ))}
          <Field
            name="own_scopes"
            label="Scopes of your own"
            isMono
            isRequired={false}
            placeholder="orders.read orders.write"
            value={textIn(typed, 'own_scopes')}
            error={messageAt('own_scopes')}
            help="Names that your own services know, for access tokens made with this key."
          />
        </Form>
      </div>
    </>
  )
}

const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}
