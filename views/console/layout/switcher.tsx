import { Icon } from '../icons.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'
import type { LayoutProps, ScopeChoice } from './model.ts'
import { LAYOUT_PATHS } from './navigation.ts'
import { ScopeAvatar } from './scope-avatar.tsx'

type Parts = Pick<LayoutProps, 'base' | 'scope' | 'scopes' | 'here'>

/** Tenant switcher. Posts a form, because switching changes the session. */
export const Switcher = ({ base, scope, scopes }: Parts) => (
  <details class="menu switcher">
    <summary>
      <ScopeAvatar scope={scope} />
      <span class="unseen">Current tenant: </span>
      <span class="scopename">
        <Text text={scope.name} limit={48} />
      </span>
      <Icon name="updown" />
    </summary>
    <div class="popup">
      <ScopedForm action={url(base, LAYOUT_PATHS.switchScope)}>
        {scopes.map((other) => (
          <Choice scope={other} isCurrent={other.id === scope.id} />
        ))}
      </ScopedForm>
    </div>
  </details>
)

const Choice = ({ scope, isCurrent }: { scope: ScopeChoice; isCurrent: boolean }) => (
  <button
    type="submit"
    name="to"
    value={scope.id}
    class="item"
    aria-current={isCurrent ? 'true' : undefined}
  >
    <ScopeAvatar scope={scope} />
    <Text text={scope.name} limit={48} />
    {isCurrent && <Icon name="check" />}
  </button>
)

/** Switches between live and test. Posts a form, because the session remembers the choice. */
export const EnvironmentSwitch = ({
  base,
  environment,
  here,
}: Pick<LayoutProps, 'base' | 'environment' | 'here'>) =>
  environment === undefined ? null : (
    <ScopedForm class="environment" action={url(base, LAYOUT_PATHS.environment)}>
      <input type="hidden" name="return_to" value={here} />
      <fieldset>
        <legend class="unseen">Environment</legend>
        {(['live', 'test'] as const).map((kind) => (
          <button type="submit" name="environment" value={kind} aria-pressed={kind === environment}>
            {kind === 'live' ? 'Live' : 'Test'}
          </button>
        ))}
      </fieldset>
    </ScopedForm>
  )
