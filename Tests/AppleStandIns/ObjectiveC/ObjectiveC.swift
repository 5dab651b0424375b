// Nothing is used of it; that it can be imported says that there are Objective-C classes.
