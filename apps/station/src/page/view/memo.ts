import { Component, createElement, type ComponentType, type FunctionComponent } from 'preact';

/** Renders a component again only if one of its properties is another value. */
export const memo = <Properties extends object>(View: FunctionComponent<Properties>): ComponentType<Properties> =>
  class Memo extends Component<Properties> {
    override shouldComponentUpdate(next: Properties): boolean {
      const [before, after] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return [...new Set([...Object.keys(before), ...Object.keys(after)])].some(
        (name) => !Object.is(before[name], after[name]),
      );
    }
    override render() {
      return createElement(View, this.props);
    }
  };
