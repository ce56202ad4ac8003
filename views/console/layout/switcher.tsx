import { ENVIRONMENTS } from '../../../src/platform/engines.ts'
import { Icon } from '../icons.tsx'
import { Text } from '../text.tsx'
import { capitalized } from '../words.ts'
import type { LayoutProps, ScopeChoice } from './model.ts'
import { LAYOUT_PATHS } from './navigation.ts'
import { ScopeAvatar } from './scope-avatar.tsx'

type Parts = Pick<LayoutProps, 'href' | 'scope' | 'scopes'>

/** Tenant switcher. Posts a form, because the session remembers the tenant. */
export const Switcher = ({ href, scope, scopes }: Parts) => (
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
      <form method="post" action={href(LAYOUT_PATHS.switchScope)}>
        {scopes.map((other) => (
          <Choice scope={other} isCurrent={other.id === scope.id} />
        ))}
      </form>
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

/** Switches between live and test. */
export const EnvironmentSwitch = ({
  environment,
  hrefIn,
}: Pick<LayoutProps, 'environment' | 'hrefIn'>) =>
  environment === undefined ? null : (
    <fieldset class="environment" aria-label="Environment">
      {ENVIRONMENTS.map((one) => (
        <a href={hrefIn(one)} aria-current={one === environment ? 'true' : undefined}>
          {capitalized(one)}
        </a>
      ))}
    </fieldset>
  )
