import type { Fields } from '../../../src/http/body.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../src/platform/engines.ts'
import { Button, LinkButton } from '../form/button.tsx'
import { Checkboxes, Radios } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { checkedValues, errorAt, rawText } from '../form/values.ts'
import { PageHead } from '../page-head.tsx'
import { url } from '../url.ts'
import { ENGINE_WORDS } from './key-words.ts'

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
  'relay:send': 'Send messages',
  'relay:read': 'Read messages, endpoints and deliveries',
  'relay:endpoints': 'Create, update and delete endpoints; retry deliveries',
}

/** Name of the field with the scopes of an engine. */
export const scopesField = (engine: Engine): string => `${engine}_scopes`

const hasChoice = (engine: Engine): boolean => ENGINE_SCOPES[engine].length > 1

interface Page {
  base: string
  /** Preselected engine. */
  engine: Engine
  values?: Fields
  errors?: readonly FormError[]
}

/** Form for a new API key. The style sheet hides the fields of other engines. */
export const NewKeyPage = ({ base, engine, values, errors }: Page) => {
  return (
    <>
      <PageHead
        title="New API key"
        state={{ sentence: 'The key is shown once and works immediately.' }}
      />
      <div class="keyform">
        <Form
          action={url(base, '/console/keys')}
          errors={errors}
          buttons={
            <>
              <Button weight="primary">Create key</Button>
              <LinkButton weight="bare" href={url(base, '/console/keys')}>
                Cancel
              </LinkButton>
            </>
          }
        >
          <Radios
            name="engine"
            label="Engine"
            value={rawText(values, 'engine') ?? engine}
            error={errorAt(errors, 'engine')}
            options={ENGINES.map((value) => ({ value, ...ENGINE_WORDS[value] }))}
          />
          <div class="of-engine gate passepartout relay">
            <Radios
              name="environment"
              label="Environment"
              value={rawText(values, 'environment') ?? 'live'}
              error={errorAt(errors, 'environment')}
              options={[
                { value: 'live', label: 'Live' },
                {
                  value: 'test',
                  label: 'Test',
                  text: 'Separate from live data. Never reaches real users or endpoints.',
                },
              ]}
            />
          </div>
          {ENGINES.filter(hasChoice).map((of) => (
            <div class={`of-engine ${of}`}>
              <Checkboxes
                name={scopesField(of)}
                label="Scopes"
                values={values ? checkedValues(values, scopesField(of)) : ENGINE_SCOPES[of]}
                error={errorAt(errors, scopesField(of))}
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
            label="Custom scopes"
            isMono
            isRequired={false}
            placeholder="orders.read orders.write"
            value={rawText(values, 'own_scopes')}
            error={errorAt(errors, 'own_scopes')}
            help="Scopes of your own services, for access tokens created with this key."
          />
        </Form>
      </div>
    </>
  )
}
