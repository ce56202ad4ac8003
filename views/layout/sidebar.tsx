import { ENVIRONMENTS } from '../../src/platform/engines.ts'
import { initialOf } from '../flows/name.ts'
import { Icon } from '../ui/icons.tsx'
import { Text } from '../ui/text.tsx'
import { capitalized } from '../ui/words.ts'
import type { LayoutProps, ScopeChoice } from './model.ts'
import { LAYOUT_PATHS, navigationOf, PAGES, type PageKey } from './navigation.ts'

/** Sidebar navigation. Under 900 px it is a popover, which needs no script. */
export const Sidebar = (layout: LayoutProps) => (
  <div class="sidebar" id="sidebar" popover="auto">
    <div class="sidebar-body">
      <Switcher {...layout} />
      <nav aria-label="Console">
        {navigationOf(layout.scope.kind, layout.hiddenPages).map(({ title, pages }) => (
          <div class="navgroup">
            {title && <h2>{title}</h2>}
            <ul>
              {pages.map((key) => (
                <Entry page={key} href={layout.href} isActive={key === layout.active} />
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  </div>
)

const Entry = (entry: { page: PageKey; href: LayoutProps['href']; isActive: boolean }) => {
  const { label, path, icon } = PAGES[entry.page]
  return (
    <li>
      <a href={entry.href(path)} aria-current={entry.isActive ? 'page' : undefined}>
        <Icon name={icon} />
        <span>{label}</span>
      </a>
    </li>
  )
}

type Parts = Pick<LayoutProps, 'href' | 'scope' | 'scopes'>

/** Tenant switcher. Posts a form, because the session remembers the tenant. */
const Switcher = ({ href, scope, scopes }: Parts) => (
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

/** First letter of a tenant's name, or the icon of the installation. */
const ScopeAvatar = ({ scope }: { scope: ScopeChoice }) => (
  <span class={`tenantavatar ${scope.kind}`} aria-hidden="true">
    {scope.kind === 'tenant' ? (initialOf(scope.name) ?? '·') : <Icon name="tenants" />}
  </span>
)
